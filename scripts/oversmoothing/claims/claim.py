"""A finding as a claim that can fail: a sentence, contrasts, and the verdict that they allow."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oversmoothing.claims.contrast import LEAST, Contrast, Missing, Outcome, decide
from oversmoothing.claims.measured import Measured

HOLDS, IN_PART, CONTRADICTED, OPEN = "holds", "holds in part", "contradicted", "open"
DEPENDS = "depends on the truth"
ONE_SEED, NOT_TESTED, NOT_PRINTED = "one seed", "not tested here", "not printed"


@dataclass(frozen=True)
class Claim:
    """A sentence that can fail, and what it is tested on."""

    id: str
    place: str  # in the thesis, or in Godey et al.; of ours, the document that measures it
    statement: str
    how: str  # the test in words: what is compared with what
    contrasts: Callable[[Any], Sequence[Contrast]]
    cannot_fail: str = ""  # why no honest run can contradict it; such a sentence is no finding, and is not counted

    @property
    def chapter(self) -> str:
        """Its chapter, or its appendix's letter; G for Godey et al., and of ours its document."""
        return self.place if self.place.startswith("docs/") else self.place[0]

    def place_of(self, headings: Collection[str]) -> tuple[bool, bool, str]:
        """Return what sorts claims: the thesis's by section, then those of Godey et al., then ours."""
        authors, _, section = self.place.partition(", ")
        of_godey = self.chapter == "G"
        return self.chapter in headings, of_godey, section if of_godey else authors


@dataclass(frozen=True)
class Verdict:
    """What the contrasts of a claim say together."""

    verdict: str
    contrasts: Sequence[Contrast] = ()
    outcomes: Sequence[Outcome] = ()
    note: str | None = None  # what is missing

    @property
    def weakest(self) -> Contrast | None:
        """The contrast that lies lowest beyond its bounds, among those with the worst outcome."""
        if not self.contrasts:
            return None
        worst = min(self.outcomes)
        judged = zip(self.contrasts, self.outcomes, strict=True)
        return min((one for one, of in judged if of == worst), key=lambda one: one.inside)


def judge(claim: Claim, measured: Any) -> Verdict:
    """Return the verdict on a claim.

    It is contradicted if the seeds decide any contrast against it, and holds if they decide all for it; if some, it
    holds in part. With one seed nothing is decided but what is exact.
    """
    try:
        contrasts = list(claim.contrasts(measured))
        if not contrasts:
            raise Missing("there is nothing to compare")
    except Missing as reason:
        return Verdict(NOT_TESTED, note=str(reason))
    outcomes = decide(contrasts)
    if Outcome.AGAINST in outcomes:
        verdict = CONTRADICTED
    elif set(outcomes) == {Outcome.FOR}:
        verdict = HOLDS
    elif any(not one.exact and len(one.values) < LEAST for one in contrasts):
        verdict = ONE_SEED
    else:
        verdict = IN_PART if Outcome.FOR in outcomes else OPEN
    return Verdict(verdict, contrasts, outcomes)


def judge_by_truth(claim: Claim, measured: Any) -> tuple[Verdict, dict[str, Verdict]]:
    """Return the verdict on a claim, and the verdicts by truth; none by truth if it does not depend on the truth."""
    mean = judge(claim, measured)
    if not isinstance(measured, Measured) or len(measured.truths) < 2:
        return mean, {}
    each = {truth: judge(claim, measured.against(truth)) for truth in measured.truths}
    each = {truth: found for truth, found in each.items() if found.verdict != NOT_TESTED}
    values = [[one.values for one in found.contrasts] for found in (mean, *each.values())]
    if all(of_truth == values[0] for of_truth in values[1:]):
        return mean, {}
    return together(each), each


def together(each: Mapping[str, Verdict]) -> Verdict:
    """Return what verdicts by truth say together: their own if they agree, else that it depends on the truth."""
    verdicts = {found.verdict for found in each.values()}
    (verdict,) = verdicts if len(verdicts) == 1 else [ONE_SEED if ONE_SEED in verdicts else DEPENDS]
    contrasts = [
        replace(one, name=f"{one.name}, against {truth}") for truth, found in each.items() for one in found.contrasts
    ]
    return Verdict(verdict, contrasts, [outcome for found in each.values() for outcome in found.outcomes])


def judge_printed(claim: Claim, measured: Measured) -> Verdict:
    """Return whether printed means, which have no intervals, lie on the side of a claim."""
    found = judge(claim, measured)
    if found.verdict == NOT_TESTED:
        return Verdict(NOT_PRINTED, note=found.note)
    outcomes = [one.towards for one in found.contrasts]
    verdict = {Outcome.FOR: HOLDS, Outcome.OPEN: OPEN, Outcome.AGAINST: CONTRADICTED}[min(outcomes)]
    return Verdict(verdict, found.contrasts, outcomes)
