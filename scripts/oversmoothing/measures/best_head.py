"""What the best heads of a rank force of truths: as many columns as a model's head, fitted to the truths themselves."""

from collections.abc import Callable, Iterable

import numpy as np

from oversmoothing.forced.best_head import ROUNDS, TOLERANCE, BestHead, best_head, bytes_needed
from oversmoothing.forced.projection import Projection, project
from oversmoothing.models.heads import ModelHead

__all__ = ["beside_best", "bytes_needed", "fit", "fits", "forced_by"]


def fit(
    p: np.ndarray,
    rank: int,
    start: np.ndarray | None = None,
    step: Callable[[], object] = lambda: None,
    rounds: int = ROUNDS,
    span: np.ndarray | None = None,
) -> BestHead:
    """Return the head of a rank that was found to force least of truths p (n, v).

    `step` is told of iterations; `rounds` and `span` are those of `forced.best_head`.
    """
    return best_head(p, rank, start, rounds=rounds, step=step, span=span)


def fits(
    p: np.ndarray,
    rank: int,
    starts: Iterable[np.ndarray | None],
    step: Callable[[], object] = lambda: None,
    rounds: int = ROUNDS,
    span: np.ndarray | None = None,
) -> list[BestHead]:
    """Return what `fit` finds from several starts, None for `best_head.leading`; what forces least is the first."""
    return sorted((fit(p, rank, start, step, rounds, span) for start in starts), key=lambda own: own.forced.mean())


def forced_by(weights: np.ndarray, p: np.ndarray) -> Projection:
    """Return the distributions of a fitted head (v, r) that are nearest to truths p (n, v)."""
    return project(weights, p, tolerance=TOLERANCE)


def beside_best(head: ModelHead, p: np.ndarray, fitted: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a trained head, ``free`` of its norm, and the ``best`` of its rank force of truths p (n, v).

    Each is (n,), in nats, as the larger ``gap``. The best head is fitted to the truths where `fitted` (n,) is True:
    once from the trained head and once from `best_head.leading`, whichever ends lower on them.
    """
    trained = project(head.weights, p, head.bias)
    rank = head.weights.shape[1]
    if rank >= len(head.weights) - 1:
        return {"free": trained.forced, "best": np.zeros(len(p)), "gap": trained.gap}
    best = project(fits(p[fitted], rank, (head.weights, None))[0].weights, p)
    return {"free": trained.forced, "best": best.forced, "gap": np.maximum(trained.gap, best.gap)}
