"""Verdict on a claim, from its comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oversmoothing.claims.comparison import TINY, Comparison, Missing, Outcome
from oversmoothing.claims.power import seeds_to_decide, smallest_told
from oversmoothing.claims.together import upper_ends

HOLDS, FAILS, OPEN, NOT_PRINTED = "holds", "does not hold", "cannot tell", "not printed"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim: of its comparisons, how many hold and how many are against, all taken together.

    The weakest decides: among those with the worst outcome, the one lowest relative to its bound, as a share of what is
    compared. ``upper`` is its simultaneous upper bound (see `upper_ends`), and ``note`` says what is missing.
    ``positions`` counts those that the verdict rests on, in the comparison that has the fewest. Of an undecided claim,
    ``tells`` is the smallest difference that its weakest comparison could tell and ``seeds`` how many would decide it
    at the size that was measured (see `power`).
    """

    verdict: str
    weakest: Comparison | None = None
    comparisons: int = 0
    held: int = 0
    against: int = 0
    note: str | None = None
    upper: float | None = None
    positions: int | None = None
    tells: float | None = None
    seeds: float | None = None


def judge(comparisons: Sequence[Comparison]) -> Verdict:
    """Return the verdict: a claim holds if all of its comparisons do, and does not if one is clearly against it.

    Each comparison must hold by its own 95 % interval: a claim with a comparison that is really at its bound holds by
    chance in at most 2.5 % of runs, however many comparisons there are. A comparison is clearly against only if its
    number is below the bound with all of them taken together (see `upper_ends`), so that a true claim does not fail
    more often than that. A `ValueError` is raised if there are no comparisons.
    """
    if not comparisons:
        raise ValueError("a claim without comparisons has no verdict")
    uppers = upper_ends(comparisons)
    outcomes = [_outcome(comparison, upper) for comparison, upper in zip(comparisons, uppers, strict=True)]
    judged = zip(outcomes, comparisons, uppers, strict=True)
    worst, weakest, upper = min(judged, key=lambda one: (one[0], one[1].strength, one[1].effect))
    verdict = {Outcome.HOLDS: HOLDS, Outcome.AGAINST: FAILS, Outcome.UNDECIDED: OPEN}[worst]
    counts = {outcome: outcomes.count(outcome) for outcome in Outcome}
    deciding = [one for one, outcome in zip(comparisons, outcomes, strict=True) if outcome == worst]
    positions = min((one.positions for one in deciding if one.positions), default=None)
    judged_as = Verdict(
        verdict, weakest, len(outcomes), counts[Outcome.HOLDS], counts[Outcome.AGAINST], None, float(upper), positions
    )
    if worst != Outcome.UNDECIDED:
        return judged_as
    return replace(judged_as, tells=smallest_told(weakest), seeds=seeds_to_decide(deciding, comparisons))


def judge_claim(test: Callable[[Any], Sequence[Comparison]], evidence: Any, missing: str = OPEN) -> Verdict:
    """Return the verdict of a claim's test on evidence; if something is missing, it is `missing` with a note."""
    try:
        return judge(test(evidence))
    except Missing as reason:
        return Verdict(missing, note=str(reason))


def _outcome(comparison: Comparison, upper: float) -> Outcome:
    """Return a comparison's outcome among others: its own, or undecided if it is against only when taken alone."""
    alone = comparison.outcome
    if alone != Outcome.AGAINST or comparison.exactly or upper < comparison.bound - TINY:
        return alone
    return Outcome.UNDECIDED
