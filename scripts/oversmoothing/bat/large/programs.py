"""One linear program for an open token: min z_i over a working set, with columns generated for the tail.

The tail moves in slices: tokens on which the best y so far is about equally doubtful go together towards the ends of
the box that this y asks for. Slices are made anew in each round, from where the last round ended, so the bound of the
program falls to that of all tokens. A program stops at the first proof that `WorkingSet` accepts.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from oversmoothing.bat.large.lewis import gram
from oversmoothing.bat.large.position import MARGIN, OPEN, WorkingSet
from oversmoothing.bat.large.rounding import BLOCK

MOST_STEPS = 40  # of the interior point method in one round
ROUNDS, FEWER_ROUNDS, COSTLY = 12, 4, 3e8  # rounds, and rounds where a step takes more products than this
GAP = 1e-4  # at this one a round ends
CUTS = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1.0])  # of the tail, by the size of t
BACK = 0.02  # how far a slice may go back
KEPT = 0.9  # share of the last round's z from which the next starts, so that there is room on all sides
RIDGE = 1e-13  # added to the normal equations of the interior-point method, relative to their mean diagonal
SHARE = 0.99  # of the way to the nearest end of the box


def decide_one(working: WorkingSet, place: int, y: np.ndarray | None, steps: int) -> int:
    """Try to decide the token at a place in at most `steps` steps, from the best whitened y (r,); return the steps."""
    metric, position = working.metric, working.position
    columns, k = metric.whitened, len(working.tokens)
    mine, token = columns[:, place], working.tokens[place]
    y = mine.copy() if y is None else y
    z, tail = np.zeros(k), np.zeros(len(working.tail))
    taken = 0
    rounds = ROUNDS if k * len(mine) ** 2 < COSTLY else FEWER_ROUNDS
    for turn in range(rounds if len(working.tail) else 1):
        slices, ways = _slices(working, y, tail)
        moves = [np.where(slices == s, ways, 0.0) for s in range(slices.max(initial=-1) + 1)]
        pulls = [working.pull(working.tail, np.stack(moves, axis=1))] if moves else []
        cost = np.zeros(k + len(moves))
        cost[place] = 1
        back = BACK if turn else min(position.rise, 1 / position.rise)
        below = np.concatenate([1 + z, np.full(len(moves), back)])
        above = np.concatenate([position.rise - z, np.ones(len(moves))])
        below[place] = 2 + z[place]  # z_i may fall below -1: divided by -z_i, such a z proves more than it must
        point, tried = InteriorPoint(np.concatenate([columns, *pulls], axis=1), cost, below, above), np.inf
        for _ in range(MOST_STEPS):
            if taken == steps:
                return taken
            taken += 1
            if not point.step():
                break
            least = z[place] + point.z[place]
            if least <= -1 - 2 * MARGIN:
                moved = (tail + ways * _spread(point.z[k:], slices))[:, None] / -least
                own, pull = (z + point.z[:k])[:, None] / -least, working.pull(working.tail, moved)
                if working.reject(np.array([place]), own, working.tail, moved, pull)[0]:
                    return taken
            towards = np.sign(mine @ point.y) * point.y
            inside, t_i = working.fall((columns.T @ towards)[:, None], np.array([place]))
            fall = float(inside[0] / t_i[0]) if t_i[0] > 0 else np.inf
            if fall < min(1.0, tried - 0.003):
                tried = fall
                working.accept(np.array([place]), towards[:, None])
                if position.status[token] != OPEN:
                    return taken
            if point.gap < GAP:
                break
        y = np.sign(mine @ point.y) * point.y
        z, tail = KEPT * (z + point.z[:k]), KEPT * (tail + ways * _spread(point.z[k:], slices))
    return taken


def _slices(working: WorkingSet, y: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slice of each token of the tail, and its way to the end of the box that y asks for."""
    if not len(tail):
        return np.zeros(0, int), np.zeros(0)
    raw = working.position.constraints.raise_(working.metric.lift(y[:, None]))
    columns, blocks = working.position.constraints.columns, range(0, len(tail), BLOCK)
    t = np.concatenate([columns[working.tail[start : start + BLOCK]] @ raw[:, 0] for start in blocks])
    ways = np.where(t > 0, working.position.rise, -1.0) - tail
    slices = np.empty(len(tail), int)
    slices[np.argsort(abs(t), kind="stable")] = np.searchsorted(CUTS[1:-1] * len(tail), np.arange(len(tail)), "right")
    return np.unique(slices, return_inverse=True)[1], ways


def _spread(moves: np.ndarray, slices: np.ndarray) -> np.ndarray:
    return moves[slices] if len(moves) else np.zeros(0)


class InteriorPoint:
    """Mehrotra's predictor and corrector (1992) for min c z, A z = 0, in a box, in which every z (k,) from 0 on is."""

    def __init__(self, columns: np.ndarray, cost: np.ndarray, below: np.ndarray, above: np.ndarray) -> None:
        """Begin with A (m, k), of rows of about one size, c (k,), and distances to the ends of the box (k,)."""
        self.columns, self.cost, self.below, self.above = columns, cost, below, above
        self.z, self.y = np.zeros(columns.shape[1]), np.zeros(len(columns))
        slack = np.sqrt(cost**2 / 4 + max(0.5 * abs(cost).mean(), 1e-12) ** 2)
        self.low, self.high = slack + cost / 2, slack - cost / 2

    @property
    def gap(self) -> float:
        """Most by which c z can still fall, once the multipliers are feasible."""
        return float(self.low @ (self.z + self.below) + self.high @ (self.above - self.z))

    def step(self) -> bool:
        """Take one step; False if the normal equations are singular."""
        down, up = self.z + self.below, self.above - self.z
        scale = 1 / (self.low / down + self.high / up)
        normal = gram(self.columns, scale)
        normal[np.diag_indices_from(normal)] += RIDGE * normal.trace() / len(normal)
        try:
            factor = cholesky(normal, lower=True, check_finite=False, overwrite_a=True)
        except LinAlgError:
            return False
        missing = -(self.columns @ self.z)
        dual = self.low - self.high - self.cost - self.columns.T @ self.y

        def direction(low: np.ndarray, high: np.ndarray) -> tuple:
            right = dual + low / down - high / up
            y = solve_triangular(factor, self.columns @ (scale * right) - missing, lower=True, check_finite=False)
            y = solve_triangular(factor, y, lower=True, trans=1, check_finite=False)
            z = scale * (right - self.columns.T @ y)
            low, high = (low - self.low * z) / down, (high + self.high * z) / up
            lengths = min(_room(down, z), _room(up, -z)), min(_room(self.low, low), _room(self.high, high))
            return y, z, low, high, *lengths

        mean = (self.low @ down + self.high @ up) / (2 * len(self.z))
        _, z, low, high, far, dual_far = direction(-self.low * down, -self.high * up)
        far, dual_far = min(1.0, far), min(1.0, dual_far)
        after = (self.low + dual_far * low) @ (down + far * z) + (self.high + dual_far * high) @ (up - far * z)
        aim = (after / (2 * len(self.z)) / mean) ** 3 * mean
        y, z, low, high, far, dual_far = direction(aim - self.low * down - low * z, aim - self.high * up + high * z)
        far, dual_far = min(1.0, SHARE * far), min(1.0, SHARE * dual_far)
        self.z = self.z + far * z
        self.y, self.low, self.high = self.y + dual_far * y, self.low + dual_far * low, self.high + dual_far * high
        return True


def _room(distances: np.ndarray, changes: np.ndarray) -> float:
    """Return how far a step can go until a distance vanishes."""
    falling = changes < 0
    return float((distances[falling] / -changes[falling]).min()) if falling.any() else np.inf
