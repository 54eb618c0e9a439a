"""Compilation of inner loops by numba, the location of its cache, and loops over threads."""

import logging
import os
import platform
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba

logger = logging.getLogger(__name__)
config: Any = numba.config
WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # numba's types lack them


def _cache_folder() -> Path | None:
    """Return a private cache folder for this host: hosts of a cluster may share a home but differ in their processors.

    numba unpickles what it finds there, so whoever can write to the folder can run code. If neither the home nor the
    system's temporary folder allows a private one, nothing is cached.
    """
    for base in _bases():
        folder = base / "compiled" / platform.node()
        if _private(base, folder):
            return folder
    logger.warning("no private folder to cache compiled code, so every run compiles again; set NUMBA_CACHE_DIR to one")
    return None


def _bases() -> Iterator[Path]:
    home = os.environ.get("XDG_CACHE_HOME")
    yield (Path(home) if home else Path.home() / ".cache") / "oversmoothing"
    yield Path(tempfile.gettempdir()) / f"oversmoothing-{os.geteuid()}"


def _private(base: Path, folder: Path) -> bool:
    """Create `folder` under `base`; return whether no other user can write to it or replace it."""
    ours = [base, *(parent for parent in folder.parents if base in parent.parents), folder]
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        for path in ours:
            path.mkdir(mode=0o700, exist_ok=True)
        above = [base.parent.resolve(), *base.parent.resolve().parents]
        return all(map(_ours_alone, ours)) and not any(map(_others_rename_in, above)) and os.access(folder, os.W_OK)
    except OSError:
        return False


def _ours_alone(path: Path) -> bool:
    facts = path.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def _others_rename_in(path: Path) -> bool:
    """Return whether another user can rename files of others in a folder; sticky folders, such as /tmp, forbid it."""
    facts = path.stat()
    return facts.st_uid not in (0, os.geteuid()) or bool(facts.st_mode & 0o022 and not facts.st_mode & stat.S_ISVTX)


CACHE = True
if "NUMBA_CACHE_DIR" not in os.environ:
    kept = _cache_folder()
    CACHE = kept is not None
    config.CACHE_DIR = str(kept or "")


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function with numba and caches the machine code on this host.

    numba invalidates its cache by the function's own file only, so functions that call each other belong in one module.
    """
    return numba.njit(cache=CACHE, error_model="numpy", **options)


def inner(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator as `compiled` for what only compiled functions call: without what Python would call it by."""
    return numba.njit(error_model="numpy", **WITHOUT_WRAPPERS, **options)


def use_threads(threads: int) -> int:
    """Let `in_threads` use `threads` cores, or as many as are available; return how many."""
    threads = max(1, min(threads, config.NUMBA_NUM_THREADS))
    numba.set_num_threads(threads)
    return threads


def in_threads(call: Callable[[int], None], count: int) -> None:
    """Call a function with 0 to `count` - 1 on several cores; most of its time must be in compiled code with `nogil`.

    numba's own parallel loops take as long to compile as all that they call, once more.
    """
    left = iter(range(count))

    def work() -> None:
        for i in left:
            call(i)

    threads = min(numba.get_num_threads(), count)
    if threads < 2:
        work()
        return
    with ThreadPoolExecutor(threads) as pool:
        for worker in [pool.submit(work) for _ in range(threads)]:
            worker.result()
