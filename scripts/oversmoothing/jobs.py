"""What every script shares: logging, error reporting, and checks of its code and inputs."""

import errno
import logging
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from oversmoothing.fingerprint import KNOWN, closure, fingerprint, kept, relative
from oversmoothing.printable import printable

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake as Job
else:
    Job = Any  # what Snakemake puts into a script: its input, output, params, ...

logger = logging.getLogger(__name__)

AGAIN = "and run again"
FREE, ALLOW = f"free some {AGAIN}", f"give yourself the right, or name another place, {AGAIN}"
REPAIR, CLOSE = f"check the disk or the network that it is on {AGAIN}", f"raise `ulimit -n`, or run fewer jobs, {AGAIN}"
NAME = f"name another place {AGAIN}"
# What the system says of a file that is not at fault itself, by its number: in our words, and what to do.
FAULTS = {
    errno.ENOSPC: ("no space left on the disk", FREE),
    errno.EDQUOT: ("no space left for this user (disk quota exceeded)", FREE),
    errno.EFBIG: ("too large for its file system or a limit of this user", NAME),
    errno.EACCES: ("permission denied", ALLOW),
    errno.EPERM: ("not permitted", ALLOW),
    errno.EROFS: ("its file system is read-only", NAME),
    errno.EIO: ("input/output error", REPAIR),
    errno.ESTALE: ("stale file handle", REPAIR),
    errno.ENOLCK: ("no locks on its file system", NAME),
    errno.EMFILE: ("too many open files", CLOSE),
    errno.ENFILE: ("too many open files on this machine", CLOSE),
    errno.ENAMETOOLONG: ("its name is too long", f"shorten it {AGAIN}"),
    errno.ELOOP: ("a loop of links", f"mend the link {AGAIN}"),
    errno.ENOTDIR: ("what should be a folder is none", NAME),
    errno.EEXIST: ("what should be a folder is none", NAME),
    errno.EISDIR: ("a folder, where a file is needed", NAME),
    errno.EBUSY: ("in use", f"wait {AGAIN}"),
}

# Of the running job: the files that it reads and writes (see `store.identity`), and those of code that its fingerprints
# cover.
asked: dict[str, Any] = {}
_covered: set[Path] = set()


class UserError(Exception):
    """An error that the user can fix; the message names the file, key or value and what to do."""


def run(main: Callable[[Any], None], job: Any = None) -> None:
    """Run a rule's `main` on the job that Snakemake puts into a script as ``snakemake``, with logging set up.

    The process exits with status 2 if there is none, with 1 after an error that `explain` recognises, of which one line
    is printed, or if the code is not that of the plan, and with 130 after Ctrl-C.
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
        _covered.update(_check_code(main, job))
        asked.clear()
        asked.update(getattr(getattr(job, "params", None), "asked", {}))
        _spare_pandas()
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
        print(f"\nError: {message}" + (f"\n(log: {printable(log)})" if log else ""), file=sys.stderr)
        raise SystemExit(1) from None
    finally:
        _covered.clear()


class _NoPandas:
    """A finder of modules that says there is no pandas."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "pandas":
            raise ImportError(name=name)


def _spare_pandas() -> None:
    """Keep PyArrow from importing pandas for its first array, which takes longer than to import PyArrow and NumPy.

    It looks for pandas once, and again where a method needs it, as `to_pandas`. Jobs that import it are left alone.
    """
    if (arrow := sys.modules.get("pyarrow")) and "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        try:
            arrow.array([0])
        finally:
            sys.meta_path.remove(_NoPandas)


def import_by_name(name: str) -> ModuleType:
    """Import a module, such as ``oversmoothing.scores.decodings.top_p``, which no `import` of the script's code names.

    The fingerprint of a script does not follow such an import, so that other modules of the kind redo nothing. A
    job imports only those whose fingerprints are in its rule's ``params.by_name`` (see
    `tracking.planned.fingerprints`), because changes of another would be missed.
    """
    if _covered and f"{name.replace('.', '/')}.py" not in map(relative, _covered):
        raise RuntimeError(f"{name} is imported by name, but params.by_name of the rule does not hold its fingerprint")
    return import_module(name)


def explain(error: Exception) -> str | None:
    """Return one printable line on what the user can do about an error; None for a bug, which needs its traceback."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "out of memory: lower the `batch` of `training`, `inference`, `samples` or `quality` and run again"
    if isinstance(error, OSError) and (fault := file_fault(error)):
        return printable(f"{error.filename or 'a file or device'}: {fault}")
    return printable(str(error)) if isinstance(error, UserError) else None


def file_fault(error: BaseException) -> str | None:
    """Return what the system has against a file, and what to do; None for any other error."""
    if isinstance(error, UserError):
        return None
    # Libraries in other languages pass on the system's words in an error of their own.
    words = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    number = max((no for no in FAULTS if os.strerror(no) in words), key=lambda no: len(os.strerror(no)), default=None)
    return None if number is None else "; ".join(FAULTS[number])


def _check_code(main: Callable[[Any], None], job: Any) -> set[Path]:
    """Return the files of code that the job was planned with; refuse to run other code, which would not be recorded."""
    params = getattr(job, "params", None)
    planned = getattr(params, "code", None)
    if planned is None:
        return set()
    script = relative(Path(main.__globals__["__file__"]).resolve())
    codes = {script: planned, **getattr(params, "by_name", {})}
    KNOWN.update(kept())
    for file, code in codes.items():
        if fingerprint(file) != code:
            newest = max(closure(file), key=lambda path: path.stat().st_mtime_ns)
            raise UserError(f"the code of {file} changed while the run was under way (the latest: {newest}); run again")
    return {path for file in codes for path in closure(file)}
