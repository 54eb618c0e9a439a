"""Measures of a model, each declared once, in a module of `oversmoothing.measures.entries`.

To add a measure over a text, write such a module: a function of a `window.Window` that returns columns, one value per
position measured, and `MEASURE`, which says what the function needs and how its columns become numbers. The table that
it names, its page and its JSON have it from then on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal

import numpy as np

from oversmoothing.jobs import import_by_name

FOLDER = Path(__file__).parent / "entries"
NEEDS = ("logits", "truth", "targets", "head", "hidden", "sizes", "dropped")
POSITION = "position"  # a column with the place of each value in its window, where not all places are measured

Columns = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Statistic:
    """How columns become one number, with its interval over windows."""

    columns: tuple[str, ...]  # that it is of; of a ratio or a share the numerator, then the denominator
    label: str  # in tables; "{unit}" stands for what a position is, "token" or "byte"
    unit: str  # of the number
    better: str | None = None  # "lower" or "higher"
    kind: str = "mean"  # "mean"; "ratio" of sums; "share", a ratio of means above 0; "largest", without an interval
    decimals: int | None = 4  # in tables; None: three significant digits
    levels: tuple[float, ...] = ()  # of the quantiles beside the mean
    where: tuple[str, Callable[[np.ndarray], np.ndarray]] | None = None  # a column, and which of its values count
    before: Callable[[np.ndarray], np.ndarray] | None = None  # applied to the values before they are summed
    through: Callable[[float], float] | None = None  # an increasing function of the mean, which is shown in its place
    bracket: tuple[str, str] | None = None  # columns with the ends of the brackets of which the values are the middles


@dataclass(frozen=True)
class Measure:
    """What is measured of a model, and the numbers that are made of it."""

    name: str
    of: Callable[..., Columns]  # of what `over` says and `settings`: columns, with one value per position measured
    needs: tuple[str, ...]  # some of `NEEDS`; what needs neither truth nor head is measured of the truth, too
    statistics: Mapping[str, Statistic]  # by the measure's name in the record
    table: str  # that has them
    settings: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of `of`, and their defaults
    over: Literal["window", "sample", "head"] = "window"  # `window.Window`, `sample.Sample` or `models.heads.ModelHead`

    def with_settings(self, **values: Any) -> "Measure":
        """Return the measure with other values of some of its settings."""
        if unknown := set(values) - set(self.settings):
            raise ValueError(f"{self.name}: no setting {sorted(unknown)[0]!r}; use {', '.join(self.settings)}")
        return replace(self, settings={**self.settings, **values})


def find(name: str) -> Measure:
    """Return a measure by its name, which is that of its module."""
    found: Measure = import_by_name(f"{__package__}.entries.{name}").MEASURE
    return found


@cache
def measures() -> dict[str, Measure]:
    """Return all measures by name, in alphabetical order of their modules."""
    found = (find(module.name) for module in sorted(iter_modules([str(FOLDER)]), key=lambda module: module.name))
    return {measure.name: measure for measure in found}
