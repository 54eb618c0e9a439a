"""From comparisons to a verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oversmoothing.claims.comparison import TINY, Comparison, Missing, Outcome
from oversmoothing.claims.together import upper_ends

HOLDS, FAILS, OPEN, NOT_PRINTED = "holds", "does not hold", "cannot tell", "not printed"


@dataclass(frozen=True)
class Verdict:
    """What comes of a claim.

    Attributes
    ----------
    verdict : str
        "holds", "does not hold", "cannot tell"; of printed means also "not printed".
    weakest : Comparison or None
        The comparison that decides: of those that come out worst, the one that lies lowest against its
        bound, as a share of what is compared.
    comparisons, held, against : int
        How many there are, how many hold and how many are clearly against, all taken together.
    note : str or None
        What is missing, where there is no comparison.
    upper : float or None
        Of the weakest, the end above which its number is not, all comparisons taken together (see `upper_ends`).
    """

    verdict: str
    weakest: Comparison | None = None
    comparisons: int = 0
    held: int = 0
    against: int = 0
    note: str | None = None
    upper: float | None = None


def judge(comparisons: Sequence[Comparison]) -> Verdict:
    """Give the verdict: a claim holds if all of its comparisons do, and does not if one is clearly against.

    To hold, each must do so by its own 95 % interval: a claim one of whose comparisons is really at its bound holds by
    chance in at most 2.5 % of runs, however many there are. One is clearly against only if its number is below the
    bound with all of them taken together (see `upper_ends`), so that a claim that is right does not fail in more.

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
    """Run the test of a claim on evidence; where something is missing, the verdict is `missing` and says what."""
    try:
        return judge(test(evidence))
    except Missing as reason:
        return Verdict(missing, note=str(reason))


def _outcome(own: Comparison, upper: float) -> Outcome:
    """Say how a comparison comes out among others: as alone, or undecided where it is against only alone."""
    if own.outcome != Outcome.AGAINST or own.exactly or upper < own.bound - TINY:
        return own.outcome
    return Outcome.UNDECIDED
