"""What the studies add to the claims."""

from collections.abc import Iterable
from typing import NamedTuple

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.evidence import Margin
from oversmoothing.jobs import import_by_name


class Added(NamedTuple):
    """What modules ``claims`` of studies hold, in the order of the studies."""

    claims: list[Claim]
    headings: dict[str, str]  # by chapter, of those that are not the thesis's
    margins: dict[str, Margin]  # by key of `claims.run_to_run`


def of_studies(names: Iterable[str]) -> Added:
    """Import the modules ``claims`` of studies and return what they hold."""
    added = Added([], {}, {})
    for name in names:
        module = import_by_name(f"studies.{name}.claims")
        added.claims.extend(module.CLAIMS)
        added.headings.update(getattr(module, "HEADINGS", {}))
        added.margins.update(getattr(module, "MARGINS", {}))
    return added


NOTHING = of_studies(())
