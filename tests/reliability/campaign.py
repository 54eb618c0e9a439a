"""A run as it should be, and what another one that was disturbed has unlike it."""

import os
import subprocess
from pathlib import Path

from study import TINY, Study, copy_project

NO_RESULTS = {".log", ".lock"}


def undisturbed(folder: Path, *targets: str) -> Study:
    """Build a study in peace."""
    study = copy_project(folder)
    study.snakemake(*targets)
    return study


def start(study: Study, *targets: str) -> subprocess.Popen:
    """Start Snakemake in a session of its own, so that it can be shot with all its jobs; it writes `output`."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment["NUMBA_CACHE_DIR"] = str(study.folder / "compiled")
    with (study.folder / "output").open("w") as output:
        return subprocess.Popen(
            study.command(*targets),
            cwd=study.folder,
            env=environment,
            start_new_session=True,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def unlock(study: Study) -> None:
    """Do what Snakemake asks for after it was shot."""
    study.snakemake(config=TINY, options=["--unlock"])


def differences(study: Study, other: Study) -> list[str]:
    """List the files of results that are not the same to the byte, or are in one of the studies only."""
    names = {name for one in (study, other) for name in built(one)}
    return sorted(name for name in names if content(study, name) != content(other, name))


def built(study: Study) -> set[str]:
    """List what a study has built, without logs and checkpoints."""
    root = study.folder / "results"
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and path.suffix not in NO_RESULTS}


def content(study: Study, name: str) -> bytes | None:
    path = study.folder / "results" / name
    return path.read_bytes() if path.is_file() else None
