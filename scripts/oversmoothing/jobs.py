"""What every script shares: logging, error reporting, and checks of its code and inputs."""

import errno
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.fingerprint import closure, fingerprint

logger = logging.getLogger(__name__)

_asked: dict[str, dict[str, Any]] = {}  # of the running job: what its inputs should have been made with


class UserError(Exception):
    """An error that the user can fix; the message names the file, key or value and what to do."""


def run(main: Callable[[Any], None], job: Any = None) -> None:
    """Run a rule's `main` with logging set up, reporting a `UserError` as one clear line.

    `job` is the object that Snakemake puts into a script as ``snakemake``, where it is looked for if it is not given;
    `job.log`, if present, names the log file. The process exits with status 2 if there is no such object, with status
    1 after an error that `explain` recognises or if the code is not the code the run was planned with, and with status
    130 after Ctrl-C. Any other error propagates, and its traceback is also logged.
    """
    job = job or main.__globals__.get("snakemake")
    if job is None:
        name = Path(main.__globals__["__file__"]).name
        print(f"{name} is a step of the workflow, which Snakemake runs: snakemake --cores 2", file=sys.stderr)
        raise SystemExit(2)
    log = str(job.log[0]) if job.log else None
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[logging.FileHandler(log)] if log else [logging.StreamHandler()],
        force=True,
    )
    try:
        _check_code(main, job)
        _asked.update(getattr(getattr(job, "params", None), "asked", {}))
        main(job)
    except KeyboardInterrupt:
        logger.error("interrupted")
        raise SystemExit(130) from None
    except Exception as error:
        message = explain(error)
        if message is None:
            logger.exception("failed")
            raise
        logger.error(message)
        print(f"\nError: {message}" + (f"\n(log: {log})" if log else ""), file=sys.stderr)
        raise SystemExit(1) from None


def explain(error: Exception) -> str | None:
    """Return one line on what the user can do about an error; None for a bug, which needs its traceback."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        error = UserError(
            "out of memory: lower the `batch` of `training`, `inference`, `samples` or `quality` and run again"
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        error = UserError(f"{error.filename or 'the disk'}: no space left on the device; free some and run again")
    return str(error) if isinstance(error, UserError) else None


def check_settings(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> None:
    """Raise a `UserError` if an input of the job was made with settings other than those the config now asks for.

    `metadata` is the file's, as written by `provenance`. Settings it does not record are not checked, nor are files
    that are not inputs.
    """
    asked = _asked.get(os.fspath(path))
    if asked is None or "settings" not in metadata:
        return
    if found := _difference(json.loads(metadata["settings"]), asked["settings"], ""):
        raise UserError(f"{path}: made with {found}; run again with --forcerun {asked['rule']}")


def _difference(made: Any, asked: Any, where: str) -> str | None:
    """Describe the first difference between settings present in both; a list that was used must be part of the new."""
    if isinstance(made, dict) and isinstance(asked, dict):
        both = (_difference(made[key], asked[key], f"{where}.{key}") for key in sorted(made.keys() & asked.keys()))
        return next(filter(None, both), None)
    part = isinstance(made, list) and isinstance(asked, list) and all(item in asked for item in made)
    return None if part or made == asked else f"{where.lstrip('.')} {json.dumps(made)} and not {json.dumps(asked)}"


def _check_code(main: Callable[[Any], None], job: Any) -> None:
    """Refuse to run code that differs from the plan's, under which its results would be recorded."""
    planned = getattr(getattr(job, "params", None), "code", None)
    if planned is None:
        return
    script = Path(main.__globals__["__file__"]).name
    if fingerprint(script) != planned:
        newest = max(closure(script), key=lambda path: path.stat().st_mtime_ns)
        raise UserError(f"the code of {script} changed while the run was under way (the latest: {newest}); run again")
