"""A finding as a testable claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oversmoothing.claims.comparison import Comparison


@dataclass(frozen=True)
class Claim:
    """A finding and its test.

    Attributes
    ----------
    id : str
    place : str
        In the thesis, or in Godey et al.; of ours, the document that measures it.
    statement : str
        The finding, as a statement that can fail.
    how : str
        The test in words: what is compared with what.
    test : callable
        From evidence to comparisons: an `Evidence`, of this run or of printed means, or `Analyses`.
    published : str
        The published numbers, where there are no means to undergo the test.
    by_construction : bool
        Whether it holds in any correct computation; such a claim is not a finding.
    """

    id: str
    place: str
    statement: str
    how: str
    test: Callable[[Any], Sequence[Comparison]]
    by_construction: bool = False
    published: str = ""

    @property
    def section(self) -> str:
        """Its section of the thesis, such as 4.2; claims are listed in the order of sections."""
        return self.place.partition(",")[0]

    @property
    def chapter(self) -> str:
        """Its chapter, or its appendix's letter; G for Godey et al., and of ours its document."""
        return self.place if self.place.startswith("docs/") else self.place[0]
