"""Deletion of a finished training's folder once Snakemake has recorded the outputs written from it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError
from oversmoothing.training.folder import Folder
from oversmoothing.training.lock import Lock

MOST_HEADER = 100_000_000  # bytes; the format's own limit


def discard_accepted(dag: Any) -> None:
    """Delete the folders of finished trainings whose outputs Snakemake has recorded."""
    for job in accepted(dag):
        discard(job.params.checkpoints["folder"], job.output.weights)


def accepted(dag: Any) -> Iterator[Any]:
    """Yield the jobs with checkpoints whose outputs Snakemake has recorded and would not make again."""
    for job in dag.jobs:
        has = "checkpoints" in job.rule.params.keys()  # noqa: SIM118 (it iterates over values)
        if has and (dag.finished(job) or not dag.needrun(job)):
            yield job


def discard(checkpoints: str | Path, weights: str | Path) -> None:
    """Delete the folder of the finished training that produced these weights, if they exist, and no other."""
    key = _metadata(weights).get("training")
    if key is None:
        return
    folder = Folder.of(checkpoints, key)
    state = _metadata(folder.resume)
    if state.get("key") == key and json.loads(state["progress"])["finished"] and not (folder.path / "owner").exists():
        with suppress(UserError, OSError):  # it is in use, or contains other files
            with Lock(folder.path).held():
                folder.clear()
            folder.path.rmdir()


def _metadata(path: str | Path) -> dict[str, str]:
    """Read a safetensors file's metadata without the library, which Snakemake's own environment may lack."""
    try:
        with Path(path).open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            metadata: dict[str, str] = json.loads(file.read(min(length, MOST_HEADER))).get("__metadata__", {})
            return dict(metadata)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):  # missing or damaged
        return {}
