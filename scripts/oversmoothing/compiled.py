"""Inner loops compiled to machine code by numba, and where that code is kept between runs."""

import logging
import os
import platform
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba

logger = logging.getLogger(__name__)
config: Any = numba.config


def _cache_folder() -> Path | None:
    """Name a folder of this host's own: hosts of a cluster may share a home and differ in their processors.

    What numba keeps there it unpickles, so whoever can write into it can run code: where neither the home nor the
    system's temporary folder has one that is private, nothing is kept.
    """
    for base in _bases():
        folder = base / "compiled" / platform.node()
        if _private(base, folder):
            return folder
    logger.warning("no private folder for compiled code, so each run compiles anew; set NUMBA_CACHE_DIR to one")
    return None


def _bases() -> Iterator[Path]:
    home = os.environ.get("XDG_CACHE_HOME")
    yield (Path(home) if home else Path.home() / ".cache") / "oversmoothing"
    yield Path(tempfile.gettempdir()) / f"oversmoothing-{os.geteuid()}"


def _private(base: Path, folder: Path) -> bool:
    """Make `folder` under `base`, and say whether nobody else can write there or put another in its place."""
    own = [base, *(parent for parent in folder.parents if base in parent.parents), folder]
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        for path in own:
            path.mkdir(mode=0o700, exist_ok=True)
        above = [base.parent.resolve(), *base.parent.resolve().parents]
        return all(map(_ours_alone, own)) and not any(map(_others_rename_in, above)) and os.access(folder, os.W_OK)
    except OSError:
        return False


def _ours_alone(path: Path) -> bool:
    facts = path.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def _others_rename_in(path: Path) -> bool:
    """Say whether another user can rename what is not theirs in a folder: sticky ones, such as /tmp, forbid it."""
    facts = path.stat()
    return facts.st_uid not in (0, os.geteuid()) or bool(facts.st_mode & 0o022 and not facts.st_mode & stat.S_ISVTX)


CACHE = True
if "NUMBA_CACHE_DIR" not in os.environ:
    kept = _cache_folder()
    CACHE = kept is not None
    config.CACHE_DIR = str(kept or "")


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function that numba is to compile; the machine code is kept for the next run on this host.

    numba compares only the file of the function itself with what it kept, so functions that call each other belong
    into one module.
    """
    return numba.njit(cache=CACHE, error_model="numpy", **options)


def use_threads(threads: int) -> int:
    """Let compiled parallel loops use `threads` cores, or as many as there are; return how many."""
    threads = max(1, min(threads, config.NUMBA_NUM_THREADS))
    numba.set_num_threads(threads)
    return threads
