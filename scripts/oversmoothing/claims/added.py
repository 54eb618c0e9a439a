"""What the studies add to the claims."""

from collections.abc import Iterable
from dataclasses import dataclass

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.evidence import Margin
from oversmoothing.jobs import import_by_name


@dataclass(frozen=True)
class Added:
    """What modules ``claims`` of studies hold, in the order of the studies.

    Attributes
    ----------
    claims : list of Claim
        Their `CLAIMS`.
    headings : dict of str to str
        By chapter, of those that are not the thesis's: their `HEADINGS`.
    margins : dict of str to Margin
        By key of `claims.run_to_run`: their `MARGINS`.
    """

    claims: list[Claim]
    headings: dict[str, str]
    margins: dict[str, Margin]


def of_studies(names: Iterable[str]) -> Added:
    """Import the modules ``claims`` of studies and return what they hold."""
    added = Added([], {}, {})
    for module in [import_by_name(f"studies.{name}.claims") for name in names]:
        added.claims.extend(module.CLAIMS)
        added.headings.update(getattr(module, "HEADINGS", {}))
        added.margins.update(getattr(module, "MARGINS", {}))
    return added


NOTHING = of_studies(())
