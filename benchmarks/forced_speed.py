"""Time of the nearest distribution of a head, against SciPy's L-BFGS-B on the same positions.

    python benchmarks/forced_speed.py --tokens 256 --rank 16
    python benchmarks/forced_speed.py --tokens 50304 --rank 64 --positions 4

Head and truth are random: the truth is that of a wider head. L-BFGS-B proves no gap; it runs until it can no longer
improve, and ends as far above ours as is printed. Over small vocabularies the time behind a LayerNorm is printed too,
and at how many positions its minimum is proved.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from oversmoothing.forced.ellipsoid import project_on_ellipsoid
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.projection import LARGEST_DENSE, project_on


def main() -> None:
    """Print the processor time per position of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--positions", type=int, default=200)
    given = parser.parse_args()
    weights, p = draw(given.tokens, given.rank, given.positions)
    head, preparing = timed(lambda: prepare(weights))
    nearest, ours = timed(lambda: project_on(head, p))
    near, theirs = timed(lambda: [lbfgs(head, row, best) for row, best in zip(p, nearest.forced, strict=True)])
    share = nearest.gap / np.maximum(nearest.forced, 1e-300)
    print(f"{given.tokens} tokens, rank {given.rank}, {given.positions} positions; head prepared in {preparing:.2f} s")
    ours, theirs = 1e3 * ours / len(p), 1e3 * theirs / len(p)
    print(f"ours      {ours:9.2f} ms a position; largest gap {nearest.gap.max():.1e}, {share.max():.1e} of KL")
    print(f"L-BFGS-B  {theirs:9.2f} ms a position, {theirs / ours:.1f} times ours; above ours {max(near):.1e}")
    if given.tokens * given.rank**2 <= LARGEST_DENSE:
        behind, norm = timed(lambda: project_on_ellipsoid(weights, np.ones(given.rank), p))
        proved = int((behind.gap <= 1e-9).sum())
        print(f"LayerNorm {1e3 * norm / len(p):9.2f} ms a position; proved to 1e-9 nats at {proved} of {len(p)}")


def draw(v: int, r: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (v, r) with a decaying spectrum, and truths (n, v) of a head twice as wide."""
    draws = np.random.default_rng(0)
    wide = draws.normal(size=(v, 2 * r)) * np.tile(np.arange(1, r + 1) ** -0.4, 2)
    wide[:, 0] = -0.8 * np.log(np.arange(1, v + 1))
    hidden = draws.normal(size=(n, 2 * r)) * draws.uniform(0.5, 2, size=(n, 1))
    hidden[:, 0] = 1
    return wide[:, :r], np.exp(log_softmax(hidden @ wide.T, axis=1))


def lbfgs(head: Head, p: np.ndarray, best: float) -> float:
    """How far above the best divergence L-BFGS-B ends, in nats."""
    moments, entropy = p @ head.columns, float(p @ np.log(p))

    def divergence(theta: np.ndarray) -> tuple[float, np.ndarray]:
        z = head.columns @ theta
        total = float(logsumexp(z))
        return total - float(moments @ theta) + entropy, head.columns.T @ np.exp(z - total) - moments

    start = head.coordinates(np.log(p)[None])[0]
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    return float(minimize(divergence, start, jac=True, method="L-BFGS-B", options=options).fun) - best


def timed(work: Callable) -> tuple:
    """Return the result of some work and the processor time it took."""
    start = time.process_time()
    return work(), time.process_time() - start


if __name__ == "__main__":
    main()
