"""From comparisons to a verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oversmoothing.claims.comparison import Comparison, Missing, Outcome

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
        How many there are, how many hold and how many are clearly against.
    note : str or None
        What is missing, where there is no comparison.
    """

    verdict: str
    weakest: Comparison | None = None
    comparisons: int = 0
    held: int = 0
    against: int = 0
    note: str | None = None


def judge(comparisons: Sequence[Comparison]) -> Verdict:
    """Give the verdict: a claim holds if all of its comparisons do, and does not if one is clearly against.

    Raises
    ------
    ValueError
        If there are no comparisons.
    """
    if not comparisons:
        raise ValueError("a claim without comparisons has no verdict")
    outcomes = [comparison.outcome for comparison in comparisons]
    weakest = min(comparisons, key=lambda comparison: (comparison.outcome, comparison.strength, comparison.effect))
    verdict = {Outcome.HOLDS: HOLDS, Outcome.AGAINST: FAILS, Outcome.UNDECIDED: OPEN}[min(outcomes)]
    return Verdict(verdict, weakest, len(outcomes), outcomes.count(Outcome.HOLDS), outcomes.count(Outcome.AGAINST))


def judge_claim(test: Callable[[Any], Sequence[Comparison]], evidence: Any, missing: str = OPEN) -> Verdict:
    """Run the test of a claim on evidence; where something is missing, the verdict is `missing` and says what."""
    try:
        return judge(test(evidence))
    except Missing as reason:
        return Verdict(missing, note=str(reason))
