"""Config and code fingerprints of a plan, passed from the user's Snakemake to those of its jobs on a cluster.

Each job's Snakemake reads config and code again, but its outputs are recorded as made with those that the user's
Snakemake read. Jobs therefore take the fingerprints from the plan (scripts compare them with their own code when they
start) and compare the config with that of the plan.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from oversmoothing import fingerprint as code
from oversmoothing.jobs import UserError
from oversmoothing.store.provenance import digest
from oversmoothing.store.sealed_json import read_sealed, write_sealed
from plan.settings import ConfigError

KEPT = Path(".snakemake/read_code.json")
VARIABLE = "OVERSMOOTHING_PLANNED"  # SLURM passes the environment on; local jobs inherit it
DIGITS = 16  # of the digest of a text


def begin(config: Mapping[str, Any], leads: bool) -> None:
    """Start recording a plan or, in a job's own Snakemake, which does not lead, compare the config with the plan's."""
    if leads:
        os.environ[VARIABLE] = json.dumps({"config": digest(config), "by": str(os.getpid())})
        code.KNOWN.update(_kept())
    elif _record().get("config", digest(config)) != digest(config):
        raise ConfigError("the config changed while the run was under way; run again")


def import_first(*folders: str) -> None:
    """Let the jobs of this workflow import from folders before any installed package.

    Snakemake appends a script's folder to the path, so that the library installed from another clone would be imported
    in place of the one beside the script.
    """
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


def text(contents: Callable[[], Mapping[str, str]]) -> dict[str, str]:
    """Return the digest of the user's text at the time of planning, as ``text``; nothing if there was none.

    It depends on the contents of the files, and not on their paths. A job's own Snakemake never reads them.
    """
    record = _record()
    if "text" not in record and record.get("by") == str(os.getpid()):
        found = sorted(contents().values())
        os.environ[VARIABLE] = json.dumps(record := {**record, "text": digest(found)[:DIGITS] if found else ""})
    return {"text": record["text"]} if record.get("text") else {}


def keep() -> None:
    """Keep what this plan has read of the code for the next one, where the working directory can be written to."""
    if code.READ != code.KNOWN:
        with suppress(OSError, UserError):
            write_sealed(KEPT, {"by": _reader(), "read": code.READ})


def _kept() -> code.Read:
    """Return what an earlier plan has kept, if the same code has read it; nothing if the file is damaged."""
    with suppress(OSError, UserError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        kept = read_sealed(KEPT)
        if kept["by"] == _reader():
            return {content: (digest, names) for content, (digest, names) in kept["read"].items()}
    return {}


def _reader() -> str:
    """Digest of the module that reads code."""
    return hashlib.sha256(Path(code.__file__).read_bytes()).hexdigest()


def _record() -> dict[str, str]:
    return json.loads(os.environ.get(VARIABLE, "{}"))
