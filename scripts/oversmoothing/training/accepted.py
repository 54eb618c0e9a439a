"""When a finished training's folder can go: once Snakemake has recorded the outputs that were written from it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.training.folder import Folder
from oversmoothing.training.lock import Lock

MOST_HEADER = 100_000_000  # bytes; the format's own limit


def discard_accepted(dag: Any, *rules: str) -> None:
    """Delete what finished trainings keep for the case that their outputs are lost before Snakemake records them.

    Parameters
    ----------
    dag : snakemake.dag.DAG
        Of a run, at its start or its end.
    *rules : str
        Of trainings.
    """
    for job in accepted(dag, *rules):
        discard(job.params.checkpoints["folder"], job.output.weights)


def accepted(dag: Any, *rules: str) -> Iterator[Any]:
    """Yield the jobs of these rules whose outputs Snakemake has recorded and would not make again.

    Parameters
    ----------
    dag : snakemake.dag.DAG
        Of a run, at its start or its end.
    *rules : str
    """
    for job in dag.jobs:
        if job.rule.name in rules and (dag.finished(job) or not dag.needrun(job)):
            yield job


def discard(checkpoints: str | Path, weights: str | Path) -> None:
    """Delete the folder of the finished training that these weights came from; any other folder stays.

    Parameters
    ----------
    checkpoints : path
        The same for all trainings of a model (see `Folder.of`).
    weights : path
        Accepted; if they are not there, nothing is deleted.
    """
    key = _metadata(weights).get("training")
    if key is None:
        return
    folder = Folder.of(checkpoints, key)
    told = _metadata(folder.resume)
    if told.get("key") == key and json.loads(told["progress"])["finished"] and not (folder.path / "owner").exists():
        with suppress(UserError, OSError):  # somebody uses it, or has put files of their own there
            with Lock(folder.path).held():
                folder.clear()
            folder.path.rmdir()


def _metadata(path: str | Path) -> dict[str, str]:
    """Read a safetensors file's metadata; without the library, which the environment of Snakemake itself may lack."""
    try:
        with Path(path).open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            metadata: dict[str, str] = json.loads(file.read(min(length, MOST_HEADER))).get("__metadata__", {})
            return metadata
    except (OSError, ValueError):  # missing, or damaged: then nothing is known
        return {}
