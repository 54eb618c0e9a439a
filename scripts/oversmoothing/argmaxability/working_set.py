"""Separate points from the convex hull of many others, or express them in it, without products of all pairs.

The non-negative least squares of `oversmoothing.argmaxability.separation`, for heads of tens of thousands of rows. Many
classes advance together, one row each per round. A class looks for its next row in a working set of a few thousand,
by one matrix product for all classes; only if its residual separates it from the working set, it is compared with all
rows, and the row that leads in that direction joins the working set. So a class inside the hull is expressed by rows of
the working set alone, and one outside ends with a direction in which it leads among all.

In hundreds of dimensions the steepest descent leaves the last rows of a combination with weights too small for a proof,
as the residual vanishes before all rows are there. So a class that is nearly expressed takes rows whose angle with the
residual is that of a random direction.
"""

from dataclasses import dataclass

import numpy as np

from oversmoothing.argmaxability.fits import Fits
from oversmoothing.numerics.compiled import compiled

FIRST = 2048  # rows of the working set at the start, and
FIRST_PER_DIMENSION = 4  # at least so many per dimension
NUMBERS = 2**23  # in one array: limits the number of classes that advance together,
TOGETHER = 256  # which is at most this
NEARLY = 0.03  # residual, relative to the class's row, below which it is probably inside the hull


@dataclass(frozen=True)
class Found:
    """What a search found for c classes, in floats, without proof."""

    directions: np.ndarray  # (n, m) in which some classes were seen to lead, among those searched for and others
    residuals: np.ndarray  # of each class's best fit by other rows, (c, m)
    supports: np.ndarray  # rows of the best fit, padded with -1, int (c, m)
    weights: np.ndarray  # theirs in the fit, 0 for the padding, (c, m)


class WorkingSet:
    """Some of the rows of a head, those that limited many classes so far."""

    def __init__(self, rows: np.ndarray, v: int) -> None:
        """Begin with some of `rows` (n, m): one for each of v classes, whose first coordinate is 1; then rays."""
        n, m = rows.shape
        self._rows, self._v = rows, v
        self._inverse_norms = 1 / np.sqrt(np.einsum("nm,nm->n", rows, rows))
        self._tolerance = 1e-14 * np.sqrt(n)
        count = min(v, max(FIRST, FIRST_PER_DIMENSION * m))
        # Long rows are corners of the hull; evenly spaced ones represent the rest.
        longest = np.argpartition(self._inverse_norms[:v], count // 2)[: count // 2] if count < v else np.arange(v)
        spaced = np.linspace(0, v - 1, count - count // 2).astype(int)
        self._place = np.full(n, -1)
        self._columns, self._members, self._size = np.empty((0, m)), np.empty(0, int), 0
        self._join(np.unique(np.concatenate((np.arange(v, n), longest, spaced))))

    def search(self, classes: np.ndarray, banned: np.ndarray, wanted: np.ndarray, rounds: int) -> Found:
        """Search at most so many rounds for a separating direction or a combination for each of `classes`, (c,).

        A class's combination must not use its row in `banned`, (c,), if that is not -1. `wanted`, bool (v,), tells of
        which classes it is of interest where they lead.
        """
        m, c = self._rows.shape[1], len(classes)
        width = max(1, min(TOGETHER, c, NUMBERS // m**2, NUMBERS // len(self._rows)))
        fits = Fits(width, m)
        residuals, supports, weights = np.zeros((c, m)), np.full((c, m), -1), np.zeros((c, m))
        leads: dict[int, np.ndarray] = {}
        turn = np.full(width, -1)  # which of the classes each place works at; -1 if none
        queue = iter(range(c))
        while True:
            for place in np.flatnonzero(turn < 0).tolist():
                turn[place] = next((q for q in queue if classes[q] not in leads), -1)
                if turn[place] >= 0:
                    fits.take(place, self._rows[classes[turn[place]]])
            busy = np.flatnonzero(turn >= 0)
            if not len(busy):
                break
            sought, barred = classes[turn[busy]], banned[turn[busy]]
            chosen, ended = self._price(fits.residual[busy], sought, barred, wanted, leads)
            advance = busy[~ended]
            ended[~ended] = ~fits.add(self._rows, advance, chosen[~ended])
            ended |= fits.spent[busy] >= rounds
            for place in busy[ended]:
                residuals[turn[place]], supports[turn[place]] = fits.residual[place], fits.active[place]
                weights[turn[place], : fits.count[place]] = fits.weight[place, : fits.count[place]]
            turn[busy[ended]] = -1
        return Found(np.array([*leads.values()]).reshape(-1, m), residuals, supports, weights)

    def _price(
        self,
        residual: np.ndarray,
        sought: np.ndarray,
        barred: np.ndarray,
        wanted: np.ndarray,
        leads: dict[int, np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Choose each class's next row; tell which classes have ended; record in `leads` which classes lead where."""
        scores = residual @ self._columns[: self._size].T
        rays = self._place[self._v :]
        _bar(scores, self._place, sought, barred)
        reach = np.einsum("bm,bm->b", residual, self._rows[sought])
        inverse_norms = self._inverse_norms[self._members[: self._size]]
        length = np.linalg.norm(residual, axis=1)
        nearly = length * self._inverse_norms[sought] < NEARLY
        enough = np.where(nearly, length / np.sqrt(self._rows.shape[1]), np.inf)
        chosen, highest, allowed = _best(scores, inverse_norms, rays, enough, self._tolerance)
        chosen = np.where(chosen >= 0, self._members[chosen], -1)
        apart = allowed & (highest < reach - self._tolerance)
        ended = (chosen < 0) & ~apart
        if not apart.any():
            return chosen, ended
        which = np.flatnonzero(apart)
        scores = residual[which] @ self._rows[: self._v].T
        each = np.arange(len(which))
        scores[each, sought[which]] = -np.inf
        leader = scores.argmax(axis=1)
        highest = scores[each, leader]
        for b, j, others in zip(which, leader, highest, strict=True):
            if others < reach[b] - self._tolerance:
                leads[int(sought[b])] = residual[b].copy()
                chosen[b], ended[b] = -1, True
            elif wanted[j] and others > reach[b] + self._tolerance:
                leads.setdefault(int(j), residual[b].copy())
        barred = barred[which]
        real = (barred >= 0) & (barred < self._v)
        scores[each[real], barred[real]] = -np.inf
        leader = scores.argmax(axis=1)
        highest = scores[each, leader]
        going = ~ended[which]
        improves = going & (highest > self._tolerance)
        chosen[which[improves]] = leader[improves]
        ended[which[going & ~improves]] = True
        self._join(np.unique(leader[improves]))
        return chosen, ended

    def _join(self, rows: np.ndarray) -> None:
        """Add rows to the working set."""
        rows = rows[self._place[rows] < 0]
        end = self._size + len(rows)
        if end > len(self._members):
            capacity = min(len(self._rows), max(2 * self._size, end))
            columns, members = np.empty((capacity, self._columns.shape[1])), np.empty(capacity, int)
            columns[: self._size], members[: self._size] = self._columns[: self._size], self._members[: self._size]
            self._columns, self._members = columns, members
        self._columns[self._size : end], self._members[self._size : end] = self._rows[rows], rows
        self._place[rows] = np.arange(self._size, end)
        self._size = end


@compiled()
def _bar(scores: np.ndarray, place: np.ndarray, sought: np.ndarray, barred: np.ndarray) -> None:
    """Exclude each class's own row, and the one it must not use, from its scores in the working set."""
    for b in range(len(sought)):
        if place[sought[b]] >= 0:
            scores[b, place[sought[b]]] = -np.inf
        if barred[b] >= 0 and place[barred[b]] >= 0:
            scores[b, place[barred[b]]] = -np.inf


@compiled()
def _best(
    scores: np.ndarray, inverse_norms: np.ndarray, rays: np.ndarray, enough: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each class where its next row is, or -1; the highest score; and whether rays allow the direction.

    The next row is the one that improves the fit least among those that improve it enough, or else most.
    """
    count, size = scores.shape
    chosen, highest, allowed = np.full(count, -1), np.empty(count), np.ones(count, np.bool_)
    for b in range(count):
        for ray in rays:
            allowed[b] &= scores[b, ray] <= tolerance
        top, best, at = -np.inf, tolerance, -1
        for j in range(size):
            score = scores[b, j]
            gain = score * inverse_norms[j]
            if (gain > best and best < enough[b]) or enough[b] <= gain < best:
                best, at = gain, j
            top = max(top, score)
        chosen[b], highest[b] = at, top
    return chosen, highest, allowed
