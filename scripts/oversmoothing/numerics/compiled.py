"""Compilation of inner loops by numba, and loops over threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba

config: Any = numba.config
WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # numba's types lack them


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function with numba, which caches the machine code beside the source.

    Where neither that folder nor the user's own cache can be written, every run compiles again. numba invalidates its
    cache by the function's own file only, so functions that call each other belong in one module.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, error_model="numpy", **options)(function)
        except RuntimeError:  # no folder for the cache
            return numba.njit(error_model="numpy", **options)(function)

    return decorate


def inner(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator as `compiled` for what only compiled functions call: without what Python would call it by."""
    return numba.njit(error_model="numpy", **WITHOUT_WRAPPERS, **options)


def use_threads(threads: int) -> int:
    """Let `in_threads` use `threads` cores, or as many as are available; return how many."""
    threads = max(1, min(threads, config.NUMBA_NUM_THREADS))
    numba.set_num_threads(threads)
    return threads


def in_threads(call: Callable[[int], None], count: int) -> None:
    """Call a function, mostly of compiled code with `nogil`, with 0 to `count` - 1 on several cores."""
    remaining = iter(range(count))  # which all threads share: each takes the next, as fast as it is

    def work(_: int) -> None:
        for i in remaining:
            call(i)

    threads = numba.get_num_threads()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
