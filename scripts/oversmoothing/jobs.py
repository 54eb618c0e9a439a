"""What every script shares: where its log goes and how its errors read."""

import errno
import logging
import sys
from collections.abc import Callable
from typing import Any

logger = logging.getLogger(__name__)


class UserError(Exception):
    """A mistake that the user can mend; the message names the file, key or value and what to do."""


def run(main: Callable[[Any], None], job: Any) -> None:
    """Run a rule's `main` with its log in place; turn a `UserError` into one clear line.

    Parameters
    ----------
    main : callable
        Takes the job and does its work.
    job : Snakemake
        The object that Snakemake hands to a script; `job.log`, where present, names the log file.

    Raises
    ------
    SystemExit
        With status 1 after an error that `explain` knows; any other passes through, and its traceback stands in
        the log too.
    """
    log = str(job.log[0]) if job.log else None
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[logging.FileHandler(log)] if log else [logging.StreamHandler()],
        force=True,
    )
    try:
        main(job)
    except Exception as error:
        message = explain(error)
        if message is None:
            logger.exception("failed")
            raise
        logger.error(message)
        print(f"\nError: {message}" + (f"\n(log: {log})" if log else ""), file=sys.stderr)
        raise SystemExit(1) from None


def explain(error: Exception) -> str | None:
    """Say in one line what the user can do about an error; None for a fault of ours, which wants its traceback."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "out of memory: lower the `batch` of `training`, `inference`, `samples` or `quality` and run again"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{error.filename or 'the disk'}: no space left; free some and run again"
    return None
