"""One linear program for an open token: min z_i over a working set, with columns generated for the tail.

The tail moves in slices: tokens on which the best y so far is about equally doubtful go together towards the ends of
the box that this y asks for. Slices are made anew in each round, from where the last round ended, so the bound of the
program falls to that of all tokens. A program stops at the first proof that `WorkingSet` accepts.
"""

import numpy as np

from oversmoothing.bat.large.interior_point import InteriorPoint
from oversmoothing.bat.large.position import MARGIN, OPEN, WorkingSet
from oversmoothing.bat.large.rounding import BLOCK

MOST_STEPS = 40  # of the interior point method in one round
ROUNDS, FEWER_ROUNDS, COSTLY = 12, 4, 3e8  # rounds, and rounds where a step takes more products than this
GAP = 1e-4  # at this one a round ends
CUTS = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1.0])  # of the tail, by the size of t
BACK = 0.02  # how far a slice may go back
KEPT = 0.9  # share of the last round's z from which the next starts, so that there is room on all sides


def decide_one(working: WorkingSet, place: int, y: np.ndarray | None, steps: int) -> int:
    """Try to decide the token at a place, with at most `steps` steps in all rounds; return how many it took.

    `y`, (r,), is the best whitened y known, for the first slices.
    """
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
                if working.reject_with_tail(np.array([place]), own, working.tail, moved, pull)[0]:
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
