"""What a run was planned with, handed from its Snakemake to those of its jobs on a cluster.

Each of these reads config and code anew, but what it makes is recorded as made with what the first one read. So they
take the fingerprints from it, against which scripts hold their code as they start, and compare the config themselves.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from oversmoothing import fingerprint as code
from oversmoothing.store.provenance import digest
from plan.settings import ConfigError

VARIABLE = "OVERSMOOTHING_PLANNED"  # SLURM passes the environment on; jobs on this machine inherit it


def begin(config: Mapping[str, Any], leads: bool) -> None:
    """Begin to record a plan; in a job's own Snakemake, hold the config against that of the plan.

    Parameters
    ----------
    config : mapping
    leads : bool
        Whether this is the Snakemake that the user started.

    Raises
    ------
    ConfigError
        If the config is another one by now.
    """
    if leads:
        os.environ[VARIABLE] = json.dumps({"config": digest(config)})
    elif _record().get("config", digest(config)) != digest(config):
        raise ConfigError("the config changed while the run was under way; run again")


def fingerprint(script: str) -> str:
    """Return the fingerprint of the code that a script had when the run was planned."""
    record = _record()
    if script not in record:
        record[script] = code.fingerprint(script)
        os.environ[VARIABLE] = json.dumps(record)
    return record[script]


def _record() -> dict[str, str]:
    return json.loads(os.environ.get(VARIABLE, "{}"))
