"""Throughput of the five row-wise metrics: a plain loop over rows against `oversmoothing.scores.metrics.score`.

Run from anywhere: ``python benchmarks/metrics_speed.py [rows]``. Both run on one thread, in one process, in
alternation.
"""

import sys
import time

import measuring
import numpy as np

from oversmoothing.scores import metrics
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.probabilities import softmax

REPEATS = 7
FIVE = ("tto", "nsmd", "tv", "kl", "entropy_difference")  # those of the loop
Rows = np.ndarray


def main(n: int = 20_000, v: int = 256) -> None:
    """Print the speed of both, their ratio and the largest differences of their values."""
    p_gt, p_bn = example(n, v)
    print(f"{n} rows of {v} probabilities, float32, five metrics, one thread, NumPy {np.__version__}")
    print(
        f"truth: mean entropy {metrics.entropy(p_gt).mean():.2f} bits, mean nucleus "
        f"{metrics.nucleus(p_gt).sum(1).mean():.1f} tokens"
    )
    slow_times, fast_times = [], []
    for _ in range(REPEATS):
        slow, seconds = measuring.timed(lambda: row_loop(p_bn, p_gt), time.perf_counter)
        slow_times.append(seconds)
        fast, seconds = measuring.timed(lambda: ours(p_bn, p_gt), time.perf_counter)
        fast_times.append(seconds)
    ratios = np.array(slow_times) / np.array(fast_times)
    print(f"{'row loop':10s} {n / np.median(slow_times):12,.0f} rows/s")
    print(f"{'score':10s} {n / np.median(fast_times):12,.0f} rows/s")
    print(
        f"ratio: median {np.median(ratios):.1f} over {REPEATS} alternating repeats "
        f"(from {ratios.min():.1f} to {ratios.max():.1f})"
    )
    for name, difference in zip(FIVE, np.abs(slow - fast).max(axis=1), strict=True):
        print(f"max abs difference {name:20s} {difference:.1e}")


def example(n: int, v: int) -> tuple[Rows, Rows]:
    """Return a truth about as confident as the thesis's (near 1 bit) and a smoother model that resembles it."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((n, v), dtype=np.float32) * rng.uniform(2.5, 16, (n, 1)).astype(np.float32)
    model = 0.6 * truth + rng.standard_normal((n, v), dtype=np.float32)
    return softmax(truth), softmax(model)


def row_loop(p_bn: Rows, p_gt: Rows, tau: float = 0.9) -> Rows:
    """Return the five metrics, shape (5, n), computed as in their formulas, one row at a time."""
    out = np.empty((5, len(p_gt)))
    for i in range(len(p_gt)):
        p, q = p_gt[i], p_bn[i]
        order = np.argsort(-p, kind="stable")
        size = np.searchsorted(np.cumsum(p[order], dtype=np.float64), tau) + 1
        inside, outside = order[:size], order[size:]
        out[0, i] = np.maximum(q[outside] - p[outside], 0).sum()
        out[1, i] = (p[inside] - q[inside]).sum()
        out[2, i] = np.abs(p - q).sum() / 2
        some_p, some_q = p > 0, q > 0
        out[3, i] = (p[some_p] * np.log(p[some_p] / np.maximum(q[some_p], 1e-9))).sum()
        out[4, i] = (q[some_q] * np.log2(q[some_q])).sum() - (p[some_p] * np.log2(p[some_p])).sum()
    return out


def ours(p_bn: Rows, p_gt: Rows) -> Rows:
    """Return the same, computed by the library."""
    return metrics.score(p_bn, p_gt, [pure], FIVE)[0]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
