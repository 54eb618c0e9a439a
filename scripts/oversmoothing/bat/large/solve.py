"""BAT-reject set of one distribution over a large vocabulary, or a bracket of its mass.

The stages, each on what the ones before left open:

0. Tokens whose mass fits into tokens with equal rows of the head are rejected.
1. A working set of the tokens with the largest columns, in the metric of their Lewis weights (`lewis`); of all tokens
   while the vocabulary times the rank is small. Where they lack a direction, tokens that have it are added.
2. Slices of the tail outside it are zeroed at once, each compensated by the working set.
3. The theorem of `lewis` rejects most of the working set.
4. The metric itself gives a y for each token that the others can hardly replace.
5. Accelerated projection, all open tokens together (`projection`).
6. The theorem again, on all tokens, where much of the tail is still open; then stage 5 with more tokens that may move
   (`WidenedSet`), or, where that proves too little or costs little, stages 2, 3 and 5 on a larger working set.
7. One linear program for each token that is left, the most probable first (`programs`), until a number of them in a
   row decide nothing or their steps are used up.

It stops once the open tokens have no more mass than asked. No stage decides without a proof (`position`).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError

from oversmoothing.bat.large.constraints import Constraints
from oversmoothing.bat.large.lewis import STEPS
from oversmoothing.bat.large.position import ACCEPTED, OPEN, RAREST, REJECTED, Position, WorkingSet
from oversmoothing.bat.large.programs import decide_one
from oversmoothing.bat.large.widened_set import Best, WidenedSet, project

LEAST, MOST = 4, 12  # size of the working set in units of m
WHOLE = 200_000  # numbers in the matrix of all tokens up to which they are the working set
BEYOND = 0.03  # mass beyond it that is worth enlarging it for, up to the most
WIDER = 4  # times the working set of the second projection;
SEARCHED, DOUBLED = 16, 2  # where it only searches there, so many m, or twice the working set if that is more
LARGEST = 12_000_000  # numbers in a working set's matrix: 96 MB, of which a few are held
LEAVES = 256  # slices of the tail whose columns are summed once
FIRST_STEPS, MORE_STEPS = 60, 300  # of the projections; and
FEWER_STEPS, SEARCH_STEPS = 30, 120  # of the first where another follows, and of one that only searches there
REPLACED = 0.6  # length from which the metric's own y may accept a token
SHIFTS = (0.0, 0.3, 0.6, 0.9, 1.2)  # of that y towards a quantile, in standard deviations of t_j / p_j
WIDTH = 256  # tokens at once
MOST_FAILURES = 10  # programs in a row that decide nothing, after which the others, of rarer tokens, are not tried
PROGRAM_PRODUCTS = 2e11  # k m^2 times the steps of all programs of a position: about 10 s at d = 768
PROGRAM_SIZE = 1.5e9  # products in one step, k m^2, from which programs run on the first working set


def solve(
    constraints: Constraints, p: np.ndarray, bound: float, mass_tolerance: float, witnesses: Sequence[int] = ()
) -> Position:
    """Decide tokens of p (v,), at E = `bound` > 1, until the open ones have little mass; keep proofs of `witnesses`."""
    rise = bound - 1
    status = np.where(p * bound > rise, ACCEPTED, np.where(p > 0, OPEN, REJECTED)).astype(np.int8)
    position = Position(constraints, p, rise, status, dict.fromkeys(map(int, witnesses)))
    position.reject_twins()
    if position.mass(OPEN) <= mass_tolerance:
        return position
    working = _span(WorkingSet(position, _first_tokens(position), STEPS))
    stubborn = _zero_tail(working, mass_tolerance / 4)
    if position.p[stubborn].sum() > mass_tolerance / 4:
        working = WorkingSet(position, np.concatenate([working.tokens, stubborn[: 2 * constraints.m]]), STEPS)
    working.reject_bulk()
    _accept_directly(working)
    steps = FEWER_STEPS if len(working.tail) else FIRST_STEPS
    best = project(working, _worth(working, mass_tolerance / 4), steps, mass_tolerance)
    if position.mass(OPEN) > mass_tolerance and len(working.tail):
        _reject_everywhere(working, mass_tolerance / 4)
        working, best = _search_wider(working, mass_tolerance)
    _decide_one_by_one(working, best, mass_tolerance)
    return position


def _first_tokens(position: Position) -> np.ndarray:
    """Return all tokens, or those with the largest columns.

    These are at least LEAST m, and at most MOST m if there is mass beyond.
    """
    score = np.where(position.p > RAREST, position.p * position.constraints.norms, 0.0)
    m = position.constraints.m
    if np.count_nonzero(score) * m <= WHOLE:
        return np.flatnonzero(score)
    most = min(max(MOST * m, 1), int(np.count_nonzero(score)), max(LARGEST // m, LEAST * m))
    top = np.argpartition(-score, most - 1)[:most]
    top = top[np.argsort(-score[top], kind="stable")]
    beyond = 1 - np.cumsum(position.p[top])
    return top[: max(min(LEAST * m, most), int(np.searchsorted(-beyond, -BEYOND)))]


def _span(working: WorkingSet) -> WorkingSet:
    """Add tokens with the largest columns in the directions that the set lacks, and without which it proves little."""
    position, m, rank = working.position, working.position.constraints.m, len(working.metric.rows)
    tail = working.tail[position.p[working.tail] > RAREST]
    if rank == m or not len(tail):
        return working
    unit = position.constraints.rows(working.tokens)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    lacking = np.linalg.eigh(unit.T @ unit)[1][:, : m - rank]
    score = position.p[tail] * np.linalg.norm(position.constraints.rows(tail) @ lacking, axis=1)
    new = tail[np.argsort(-score, kind="stable")[: LEAST * m]]
    return WorkingSet(position, np.concatenate([working.tokens, new]), STEPS)


def _zero_tail(working: WorkingSet, spare: float) -> np.ndarray:
    """Reject the tail in slices, halving those with more mass than `spare` that resist; return what still does."""
    position = working.position
    tail = working.tail[position.status[working.tail] == OPEN]
    tail = tail[np.argsort(-position.p[tail], kind="stable")]
    if position.p[tail].sum() > spare:
        leaves = np.array_split(tail, min(LEAVES, len(tail)))
        sums = _sums(position, leaves)

        def of_leaves(parts: list[np.ndarray]) -> np.ndarray:
            slices = [np.concatenate([leaves[leaf] for leaf in part]) for part in parts]
            return working.reject_slices(slices, np.stack([sums[:, part].sum(axis=1) for part in parts], axis=1))

        masses = np.array([position.p[leaf].sum() for leaf in leaves])
        left = _halve([np.arange(len(leaves))], masses, spare, of_leaves)
        few = [half for part in left for leaf in part for half in np.array_split(leaves[leaf], 2) if len(half)]
        _halve(few, position.p, spare, lambda parts: working.reject_slices(parts, _sums(position, parts)))
    return tail[(position.status[tail] == OPEN) & (position.p[tail] > RAREST)]


def _sums(position: Position, slices: list[np.ndarray]) -> np.ndarray:
    """Sum of the columns a_j of each slice, (m, n)."""
    return np.stack([position.p[tokens] @ position.constraints.rows(tokens) for tokens in slices], axis=1)


def _halve(
    parts: list[np.ndarray], mass: np.ndarray, spare: float, prove: Callable[[list[np.ndarray]], np.ndarray]
) -> list[np.ndarray]:
    """Prove parts, halving those that resist until single ones do or what is left has little mass; return what is."""
    single: list[np.ndarray] = []
    while parts and mass[np.concatenate(parts)].sum() > spare:
        resisting = []
        for start in range(0, len(parts), WIDTH):
            some = parts[start : start + WIDTH]
            resisting += [part for part, done in zip(some, prove(some).tolist(), strict=True) if not done]
        single += [part for part in resisting if len(part) == 1]
        parts = [half for part in resisting if len(part) > 1 for half in np.array_split(part, 2)]
    return single + parts


def _accept_directly(working: WorkingSet) -> None:
    """Try y = M^-1 a_i, moved along the combination that is 1 on every token, so that fewer t_j count in full."""
    metric, p = working.metric, working.p
    one = metric.whitened @ (p / metric.weights)
    places = working.open
    places = places[metric.lengths[places] > REPLACED]
    for start in range(0, len(places), WIDTH):
        some = places[start : start + WIDTH]
        t = metric.whitened.T @ metric.whitened[:, some]
        mean = t.sum(axis=0)
        spread = np.sqrt(np.maximum((t**2 / p[:, None]).sum(axis=0) - mean**2, 0))
        best, chosen = np.full(len(some), np.inf), np.zeros(len(some))
        for moved in (0 * mean, *(mean - shift * spread for shift in SHIFTS)):
            inside, t_i = working.fall(t - moved * p[:, None], some)
            with np.errstate(divide="ignore", invalid="ignore"):
                falls = np.where(t_i > 0, inside / t_i, np.inf)
            chosen = np.where(falls < best, moved, chosen)
            best = np.minimum(falls, best)
        good = best < 1
        if good.any():
            working.accept(some[good], metric.whitened[:, some[good]] - one[:, None] * chosen[good])


def _worth(working: WorkingSet, spare: float) -> np.ndarray:
    """Return places of the open tokens, rarest first.

    The rarest that together have at most the mass `spare` are left out.
    """
    places = working.open
    rising = places[np.argsort(working.p[places], kind="stable")]
    return rising[np.cumsum(working.p[rising]) > spare]


def _reject_everywhere(working: WorkingSet, spare: float) -> None:
    """Apply the theorem to all tokens, if they fit and the open ones of the tail have more mass than `spare`."""
    position = working.position
    tail = working.tail[position.p[working.tail] > RAREST]
    whole = np.concatenate([working.tokens, tail])
    if position.p[tail][position.status[tail] == OPEN].sum() > spare and len(whole) * position.constraints.m <= LARGEST:
        WorkingSet(position, whole, STEPS).reject_bulk()


def _search_wider(working: WorkingSet, tolerance: float) -> tuple[WorkingSet, Best]:
    """Search once more among more tokens; return the working set for the programs, and what helps them.

    A large set only searches there, where its metric describes all constraints and it covers what is open.
    """
    position, m = working.position, working.position.constraints.m
    added = _beyond(working)
    costly = (len(working.tokens) + len(added)) * m**2 > PROGRAM_SIZE
    open_tail = float(position.p[working.tail][position.status[working.tail] == OPEN].sum())
    if costly and working.metric.complete and open_tail <= tolerance / 2:
        with suppress(LinAlgError):
            size = max(SEARCHED * m, DOUBLED * len(working.tokens))
            widened = WidenedSet(working, added[: size - len(working.tokens)])
            best = project(widened, _worth(working, tolerance / 2 - open_tail), SEARCH_STEPS, tolerance)
            return working, {token: (fall, widened.of_base(y)) for token, (fall, y) in best.items()}
    columns = working.metric.whiten((position.p[added, None] * position.constraints.rows(added)).T)
    start = np.concatenate([working.metric.lengths, np.linalg.norm(columns, axis=0)])
    enlarged = WorkingSet(position, np.concatenate([working.tokens, added]), 2, start)
    _zero_tail(enlarged, tolerance / 4)
    enlarged.reject_bulk()
    best = project(enlarged, _worth(enlarged, tolerance / 10), MORE_STEPS, tolerance)
    return (working, {}) if costly else (enlarged, best)


def _beyond(working: WorkingSet) -> np.ndarray:
    """Return tokens of the tail with the largest columns, as many as enlarge a working set well."""
    position = working.position
    tail = working.tail[position.p[working.tail] > RAREST]
    score = position.p[tail] * position.constraints.norms[tail]
    most = min(WIDER * len(working.tokens), max(LARGEST // position.constraints.m, len(working.tokens)))
    return tail[np.argsort(-score, kind="stable")[: most - len(working.tokens)]]


def _decide_one_by_one(working: WorkingSet, best: Best, mass_tolerance: float) -> None:
    position, failures = working.position, 0
    steps = int(PROGRAM_PRODUCTS / (len(working.tokens) * len(working.metric.rows) ** 2))
    places = working.open
    for place in places[np.argsort(-working.p[places], kind="stable")].tolist():
        if position.mass(OPEN) <= mass_tolerance or failures == MOST_FAILURES or steps <= 0:
            break
        token = int(working.tokens[place])
        steps -= decide_one(working, place, best[token][1] if token in best else None, steps)
        failures = failures + 1 if position.status[token] == OPEN else 0
