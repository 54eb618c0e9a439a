"""Verdict on a claim, from its comparisons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oversmoothing.claims.comparison import TINY, Comparison, Missing, Outcome
from oversmoothing.claims.together import upper_ends

HOLDS, FAILS, OPEN, NOT_PRINTED = "holds", "does not hold", "cannot tell", "not printed"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim.

    Attributes
    ----------
    verdict : str
        "holds", "does not hold" or "cannot tell"; for printed means also "not printed".
    weakest : Comparison or None
        The decisive comparison: among those with the worst outcome, the one lowest relative to its bound, as a share of
        what is compared.
    comparisons, held, against : int
        How many there are, how many hold and how many are clearly against, all taken together.
    note : str or None
        What is missing, if there is no comparison.
    upper : float or None
        Simultaneous upper bound of the weakest comparison (see `upper_ends`).
    """

    verdict: str
    weakest: Comparison | None = None
    comparisons: int = 0
    held: int = 0
    against: int = 0
    note: str | None = None
    upper: float | None = None


def judge(comparisons: Sequence[Comparison]) -> Verdict:
    """Return the verdict: a claim holds if all of its comparisons do, and does not if one is clearly against it.

    Each comparison must hold by its own 95 % interval: a claim with a comparison that is really at its bound holds by
    chance in at most 2.5 % of runs, however many comparisons there are. A comparison is clearly against only if its
    number is below the bound with all of them taken together (see `upper_ends`), so that a true claim does not fail
    more often than that.

    Raises
    ------
    ValueError
        If there are no comparisons.
    """
    if not comparisons:
        raise ValueError("a claim without comparisons has no verdict")
    uppers = upper_ends(comparisons)
    outcomes = [_outcome(own, upper) for own, upper in zip(comparisons, uppers, strict=True)]
    weakest, worst, upper = min(
        zip(comparisons, outcomes, uppers, strict=True), key=lambda own: (own[1], own[0].strength, own[0].effect)
    )
    verdict = {Outcome.HOLDS: HOLDS, Outcome.AGAINST: FAILS, Outcome.UNDECIDED: OPEN}[worst]
    counts = {outcome: outcomes.count(outcome) for outcome in Outcome}
    return Verdict(verdict, weakest, len(outcomes), counts[Outcome.HOLDS], counts[Outcome.AGAINST], upper=float(upper))


def judge_claim(test: Callable[[Any], Sequence[Comparison]], evidence: Any, missing: str = OPEN) -> Verdict:
    """Return the verdict of a claim's test on evidence; if something is missing, it is `missing` with a note."""
    try:
        return judge(test(evidence))
    except Missing as reason:
        return Verdict(missing, note=str(reason))


def _outcome(own: Comparison, upper: float) -> Outcome:
    """Return a comparison's outcome among others: its own, or undecided if it is against only when taken alone."""
    if own.outcome != Outcome.AGAINST or own.exactly or upper < own.bound - TINY:
        return own.outcome
    return Outcome.UNDECIDED
