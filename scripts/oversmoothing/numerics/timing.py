"""Processor time of a call, which waiting for other processes does not lengthen."""

import time
from collections.abc import Callable

import numpy as np


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the median processor time of a call, excluding the first."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))
