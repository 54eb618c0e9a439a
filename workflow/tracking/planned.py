"""Config and code fingerprints of a plan, passed from the user's Snakemake to those of its jobs on a cluster.

Each job's Snakemake reads config and code again, but its outputs are recorded as made with those that the user's
Snakemake read. Jobs therefore take the fingerprints from the plan (scripts compare them with their own code when they
start) and compare the config with that of the plan.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from oversmoothing import fingerprint as code
from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.provenance import digest
from plan.settings import ConfigError

VARIABLE = "OVERSMOOTHING_PLANNED"  # SLURM passes the environment on; local jobs inherit it
DIGITS = 16  # of the digest of a text


def begin(config: Mapping[str, Any], leads: bool) -> None:
    """Start recording a plan or, in a job's own Snakemake, which does not lead, compare the config with the plan's."""
    if leads:
        os.environ[VARIABLE] = json.dumps({"config": digest(config), "by": str(os.getpid())})
        code.KNOWN.update(code.kept())
    elif _record().get("config", digest(config)) != digest(config):
        raise ConfigError("the config changed while the run was under way; run again")


def import_first(*folders: str) -> None:
    """Let the jobs of this workflow import from folders before any installed package, and fingerprint code in them.

    Snakemake appends a script's folder to the path, so that the library installed from another clone would be imported
    in place of the one beside the script.
    """
    os.environ[code.FOLDERS] = os.pathsep.join(folders)
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*folders, *filter(None, before)]))


def fingerprint(script: str) -> str:
    """Return the fingerprint of a script's code at the time of planning."""
    record = _record()
    if script not in record:
        record[script] = code.fingerprint(script)
        os.environ[VARIABLE] = json.dumps(record)
    return record[script]


def fingerprints(*files: str) -> dict[str, str]:
    """Return the fingerprint of each file, by its path: for ``params.by_name``, the code that a job imports by name."""
    return {file: fingerprint(file) for file in files}


def text(contents: Callable[[], Mapping[str, str]], key: str = "text") -> dict[str, str]:
    """Return the digest of a text of the user at the time of planning, under its `key`; nothing if there was none.

    It depends on the contents of the files, and not on their paths. A job's own Snakemake never reads them.
    """
    record = _record()
    if key not in record and record.get("by") == str(os.getpid()):
        found = sorted(contents().values())
        os.environ[VARIABLE] = json.dumps(record := {**record, key: digest(found)[:DIGITS] if found else ""})
    return {key: record[key]} if record.get(key) else {}


def keep() -> None:
    """Keep what this plan has read of the code for its jobs and the next plan, if the working directory can be written.

    Plans that find nothing new leave the file as it is.
    """
    if code.READ != code.KNOWN:
        with suppress(OSError, UserError), atomic_path(code.KEPT) as temporary:
            temporary.write_bytes(code.stamped(code.READ))


def _record() -> dict[str, str]:
    return json.loads(os.environ.get(VARIABLE, "{}"))
