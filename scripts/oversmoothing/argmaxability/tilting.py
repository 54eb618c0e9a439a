"""Express many rows at once as combinations of others, or separate them, by exponential weights.

Under weights proportional to exp(r_j . y), rows r_j have a mean. Minimising log sum_j exp(r_j . y) - r_i . y moves the
mean to row i, if that lies inside the hull of the others: the weights express it. If it lies outside, y grows in a
direction in which class i leads. A step for all classes is two products of matrices, in float32. In whitened
coordinates the objective's curvature is near the identity, so steps of the length of Barzilai and Borwein ("Two-point
step size gradient methods", IMA Journal of Numerical Analysis 1988) take some tens to what a `cushion` mends.

A mean is sought among some rows only. What separates row i from these is compared with all rows, for all classes in one
product, and rows that lead there join.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from oversmoothing.argmaxability.certificates import Certificates
from oversmoothing.argmaxability.coordinates import Coordinates
from oversmoothing.argmaxability.cushion import Cushion
from oversmoothing.argmaxability.proofs import generators

PER_DIMENSION = 4  # rows of the cushion, and
AT_FIRST, JOINING = 4, 1  # rows per dimension that join at most, before the first turn and in each
CUSHIONED = 0.1, 0.1, 0.03, 0.03, 0.01  # share of the cushion in a combination, turn by turn, the last in all others
CLOSE = 0.5  # share of what a cushion mends, up to which a mean may miss its aim
STEPS = 12  # of each class between two comparisons with all rows
SHORTEST, LONGEST = 1e-3, 10.0  # step, as a multiple of the gradient
BLOCK = 4096  # rows at a time
PIECES = 8  # of all rows, from each of which the one that leads may join
TOGETHER = 256  # classes at a time


def decide(certificates: Certificates, coordinates: Coordinates, turns: int, show: Callable[[], None]) -> None:
    """Decide classes of a head without a bias in so many turns at most; `show` is told after each."""
    left, rows = certificates.result.undecided(), coordinates.rows[:, 1:]
    chosen = _base(rows, ~certificates.is_undecided)
    if not len(left) or len(chosen) <= rows.shape[1] + 1:
        return
    spread = rows[chosen] - rows[chosen].mean(axis=0)
    try:
        cushion = Cushion(generators(certificates.weights, None, chosen), np.full(len(chosen), 1 / len(chosen)))
        factor = cholesky(spread.T @ spread / len(chosen), lower=True)
    except LinAlgError:
        return
    whiten = solve_triangular(factor, np.eye(len(factor)), lower=True).T  # the cushion's rows, not all
    base, centre = len(chosen), rows[chosen].mean(axis=0) @ whiten
    points = (rows[left] @ whiten).astype(np.float32)
    back = whiten.T.astype(np.float32)
    chosen, _ = _joined(certificates, rows, chosen, points @ back, left, np.full(len(left), -np.inf), AT_FIRST)
    directions = points
    for turn in range(turns):
        cushioned = CUSHIONED[min(turn, len(CUSHIONED) - 1)]
        aims = ((points - cushioned * centre) / (1 - cushioned)).astype(np.float32)
        white = rows[chosen] @ whiten
        found = tilt(white.astype(np.float32), points, aims, directions, CLOSE * cushioned / cushion.longest)
        directions = found.directions
        near = np.flatnonzero(found.close)
        for start in range(0, len(near), TOGETHER):
            some = near[start : start + TOGETHER]
            logits = directions[some].astype(np.float64) @ white.T
            shares = (1 - cushioned) * exponential(logits, logits.max(axis=1))
            shares[:, :base] += cushioned / base
            certificates.accept_spread(left[some], cushion, chosen, shares)
        apart = directions[found.apart] @ back
        own = np.einsum("cm,cm->c", directions[found.apart], points[found.apart])
        chosen, hopeful = _joined(certificates, rows, chosen, apart, left[found.apart], own, JOINING)
        apart = apart[hopeful]
        for block in certificates.blocks(len(apart)):
            certificates.accept_witnesses(coordinates.hidden(np.pad(apart[block], ((0, 0), (1, 0)))))
        going = certificates.is_undecided[left]
        left, points, directions = left[going], points[going], directions[going]
        show()
        if not len(left):
            return


def _base(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return some of the known rows (v, m), evenly spaced among those that are neither short nor long."""
    lengths = np.einsum("vm,vm->v", rows, rows)
    order = np.flatnonzero(known)[np.argsort(lengths[known], kind="stable")]
    count = PER_DIMENSION * (rows.shape[1] + 1)
    middle = order[len(order) // 4 : -(len(order) // 4) or None] if len(order) > 2 * count else order
    return middle[np.unique(np.linspace(0, len(middle) - 1, count).astype(int))] if len(middle) else middle


def _joined(
    certificates: Certificates,
    rows: np.ndarray,
    chosen: np.ndarray,
    directions: np.ndarray,
    classes: np.ndarray,
    own: np.ndarray,
    per_dimension: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen rows with those that lead in most directions (c, m) by more than their classes' `own` score.

    Also return in which directions an undecided class may lead. An undecided row does not join.
    """
    undecided, joining = certificates.is_undecided, [np.zeros(0, int)]
    highest, hopeful = own.copy(), np.ones(len(classes), bool)
    for leader, score in leaders(rows, directions, classes):
        hopeful = np.where(score > highest, undecided[leader], hopeful)
        highest = np.maximum(highest, score)
        joining.append(leader[(score > own) & ~undecided[leader]])
    new, counts = np.unique(np.concatenate(joining), return_counts=True)
    fresh = ~np.isin(new, chosen)
    order = np.argsort(-counts[fresh], kind="stable")[: per_dimension * rows.shape[1]]
    return np.concatenate([chosen, new[fresh][order]]), hopeful


class Tilted(NamedTuple):
    """Directions y (c, m), in which of them points are apart from rows, and under which a mean is close to its aim."""

    directions: np.ndarray
    apart: np.ndarray
    close: np.ndarray


def tilt(rows: np.ndarray, points: np.ndarray, aims: np.ndarray, start: np.ndarray, close: float) -> Tilted:
    """Move the mean of rows (n, m) under exponential weights towards aims (c, m), or separate points (c, m) from them.

    All are float32. The steps begin at directions `start` (c, m) and end where a mean misses its aim by less than
    `close`, or a point is apart, or after `STEPS`.
    """
    found = Tilted(start.copy(), *np.zeros((2, len(points)), bool))
    for begin in range(0, len(points), TOGETHER):
        left = np.arange(begin, min(begin + TOGETHER, len(points)))
        y = start[left]
        before = missed = np.zeros_like(y)
        for step in range(STEPS + 1):
            logits = y @ rows.T
            highest = logits.max(axis=1)
            missing = aims[left] - exponential(logits, highest) @ rows
            apart = np.einsum("cm,cm->c", y, points[left]) > highest
            near = ~apart & (np.linalg.norm(missing, axis=1) < close)
            found.directions[left], found.apart[left], found.close[left] = y, apart, near
            going = ~(apart | near)
            if step == STEPS or not going.any():
                break
            left, y, missing = left[going], y[going], missing[going]
            pace = np.ones(len(left), np.float32)
            if step:
                change = missed[going] - missing
                curvature = np.einsum("cm,cm->c", change, change)
                along = np.einsum("cm,cm->c", y - before[going], change)
                with np.errstate(divide="ignore", invalid="ignore"):
                    pace = np.where(curvature > 0, np.clip(along / curvature, SHORTEST, LONGEST), pace)
            before, missed, y = y, missing, y + pace[:, None] * missing
    return found


def exponential(logits: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """Return the exponential weights (c, n), each of sum 1, of logits (c, n); these are overwritten."""
    logits -= highest[:, None]
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def leaders(rows: np.ndarray, directions: np.ndarray, classes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each piece of the rows (v, m) the one that leads in each direction (c, m), and its score (c,).

    `classes` (c,) are left out each in its own direction.
    """
    each, size = np.arange(len(classes)), -(-len(rows) // PIECES)
    for first in range(0, len(rows), size):
        leader, highest = np.full(len(classes), first), np.full(len(classes), -np.inf, np.float32)
        for start in range(first, min(first + size, len(rows)), BLOCK):
            end = min(start + BLOCK, first + size, len(rows))
            scores = directions @ rows[start:end].astype(np.float32).T
            inside = (classes >= start) & (classes < end)
            scores[each[inside], classes[inside] - start] = -np.inf
            best = scores.argmax(axis=1)
            higher = scores[each, best] > highest
            leader[higher], highest[higher] = best[higher] + start, scores[each, best][higher]
        yield leader, highest
