"""Compiled code without a cache, and how many cores it takes."""

import numba
import pytest
from numba.core.caching import CacheImpl

from oversmoothing.numerics.compiled import compiled, in_threads, use_threads


def test_where_no_folder_can_be_written_every_run_compiles_again(monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="cannot cache function"):
        numba.njit(cache=True)(lambda x: 2 * x)
    assert compiled()(lambda x: 2 * x)(3) == 6


def test_threads_are_kept_to_the_cores_there_are():
    before = numba.get_num_threads()
    try:
        assert use_threads(1) == numba.get_num_threads() == 1
        assert use_threads(10**6) == numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS
        assert use_threads(0) == 1
    finally:
        numba.set_num_threads(before)


@pytest.fixture(params=[1, 2])
def threads(request):
    before = numba.get_num_threads()
    yield use_threads(request.param)
    numba.set_num_threads(before)


def test_threads_share_the_calls(threads):
    called = []
    in_threads(called.append, 50)
    in_threads(called.append, 0)
    assert sorted(called) == list(range(50))


@pytest.mark.usefixtures("threads")
def test_a_fault_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 // (i - 3), 50)
