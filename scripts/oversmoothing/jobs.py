"""What every script shares: where its log goes and how its errors read."""

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
        With status 1 after a `UserError` or a full disk; any other exception passes through and its
        traceback stands in the log too.
    """
    log = str(job.log[0]) if job.log else None
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[logging.FileHandler(log)] if log else [logging.StreamHandler()],
    )
    try:
        main(job)
    except UserError as error:
        _stop(str(error), log)
    except MemoryError:
        _stop("out of memory: lower the batch size of this step in the config", log)
    except OSError as error:
        if error.errno != 28:  # ENOSPC
            logger.exception("failed")
            raise
        _stop(f"no space left on the disk for {error.filename or 'the output'}: free some and run again", log)
    except Exception:
        logger.exception("failed")
        raise


def _stop(message: str, log: str | None) -> None:
    logger.error(message)
    print(f"\nError: {message}" + (f"\n(log: {log})" if log else ""), file=sys.stderr)
    raise SystemExit(1)
