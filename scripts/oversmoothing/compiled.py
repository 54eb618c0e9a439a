"""Inner loops compiled to machine code by numba, and where that code is kept between runs."""

import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

config: Any = numba.config


def _cache_folder() -> Path:
    """Name a folder of this host's own: hosts of a cluster may share a home and differ in their processors."""
    base = os.environ.get("XDG_CACHE_HOME")
    home = Path(base) if base else Path.home() / ".cache"
    if not os.access(next(folder for folder in (home, *home.parents) if folder.exists()), os.W_OK):
        home = Path(tempfile.gettempdir())
    return home / "oversmoothing" / "compiled" / platform.node()


if "NUMBA_CACHE_DIR" not in os.environ:
    config.CACHE_DIR = str(_cache_folder())


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function that numba is to compile; the machine code is kept for the next run on this host.

    numba compares only the file of the function itself with what it kept, so functions that call each other belong
    into one module.
    """
    return numba.njit(cache=True, error_model="numpy", **options)


def use_threads(threads: int) -> int:
    """Let compiled parallel loops use `threads` cores, or as many as there are; return how many."""
    threads = max(1, min(threads, config.NUMBA_NUM_THREADS))
    numba.set_num_threads(threads)
    return threads
