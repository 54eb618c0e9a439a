"""What benchmarks share: this project's code before any other, one thread for BLAS, and what a call takes.

Import it before NumPy: BLAS reads its number of threads when NumPy is first imported.
"""

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

if "numpy" in sys.modules:
    raise ImportError("import measuring before NumPy, whose BLAS would have more than one thread")
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]
sys.path.append(str(ROOT / "tests/bat"))  # heads as language models have them

T = TypeVar("T")


def timed(call: Callable[[], T], clock: Callable[[], float] = time.process_time, threads: int = 1) -> tuple[T, float]:
    """Return the result of a call and its seconds per thread: of processor, since others may share the machine."""
    start = clock()
    result = call()
    return result, (clock() - start) / threads


def peak() -> float:
    """Return the most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
