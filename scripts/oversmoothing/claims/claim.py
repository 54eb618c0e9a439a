"""A finding as a testable claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oversmoothing.claims.comparison import Comparison


@dataclass(frozen=True)
class Claim:
    """A finding and its test, which takes an `Evidence` (of this run or of printed means) or `Analyses`."""

    id: str
    place: str  # in the thesis, or in Godey et al.; of ours, the document that measures it
    statement: str  # that can fail
    how: str  # the test in words: what is compared with what
    test: Callable[[Any], Sequence[Comparison]]
    by_construction: bool = False  # whether it holds in any correct computation; such a claim is not a finding
    published: str = ""  # the published numbers, where there are no means to undergo the test

    @property
    def section(self) -> str:
        """Its section of the thesis, such as 4.2; claims are listed in the order of sections."""
        return self.place.partition(",")[0]

    @property
    def chapter(self) -> str:
        """Its chapter, or its appendix's letter; G for Godey et al., and of ours its document."""
        return self.place if self.place.startswith("docs/") else self.place[0]
