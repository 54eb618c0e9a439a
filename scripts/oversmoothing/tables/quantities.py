"""Numbers of a run's tables for pages: each is one cell, named by its measure, rank and truth, with its interval.

``{{ forced("share", 4) | percent }}`` prints ``63 % [62, 63]``, and of its ``.value`` ``63 %``. A call that does not
select exactly one row is an error, so a page cannot quote a number that no table has. What a page computes from several
cells, such as a mean of differences between seeds, is a function here.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Any

import jinja2
import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.store.layout import read_csv
from oversmoothing.tables.contrasts import over_windows

KEYS = ("measure", "rank", "truth")  # what the values of a call are, where no names stand before them
VALUES = ("value", "effect", "mean")  # the first of these that a table has is the column of its numbers
DECIMALS = 3
SIGNIFICANT = 0.05
HALF_UP = 1e-9  # percentages are often halves, which format rounds to even numbers
MARKUP = re.compile(r"[\\#$*_@<>`~\[\]]|^[-+=/](?= )")  # what Typst would not print as it is


class Quantity(float):
    """A number and its row; a change of sign keeps the interval, any other arithmetic makes a plain number."""

    row: Mapping[str, Any]

    def __new__(cls, value: float, row: Mapping[str, Any]) -> "Quantity":
        self = super().__new__(cls, value)
        self.row = row
        return self

    def __getattr__(self, name: str) -> Any:
        """Return another cell of the row."""
        if name != "row" and name in self.row:
            return self.row[name]
        raise AttributeError(f"no column {name} beside this number")

    def __neg__(self) -> "Quantity":
        return Quantity(-float(self), {**self.row, "low": -self.row["high"], "high": -self.row["low"]})

    @property
    def decrease(self) -> "Quantity":
        """The number with its sign changed: by how much a difference is below 0."""
        return -self

    @property
    def value(self) -> float:
        """The number alone."""
        return float(self)


class Table:
    """The rows of a table, or some of them, found by the values of its keys in their order."""

    def __init__(self, name: str, frame: pd.DataFrame, keys: Sequence[str] = KEYS) -> None:
        self.name, self.frame, self.keys = name, frame, tuple(keys)

    def by(self, *keys: str) -> "Table":
        """Return the same rows, to be found by other keys."""
        return Table(self.name, self.frame, keys)

    def over_windows(self) -> "Table":
        """Return the same rows with intervals over seeds and windows; what has no windows keeps its own."""
        return Table(self.name, over_windows(self.frame), self.keys)

    def where(self, *values: Any, **others: Any) -> "Table":
        """Return the rows whose keys have these values: one, one of a list, or None for an empty cell."""
        if len(values) > len(self.keys):
            raise UserError(f"{self.name}: {len(values)} values for the keys {', '.join(self.keys)}")
        chosen = dict(zip(self.keys, values, strict=False)) | others
        frame = self.frame
        for key, wanted in chosen.items():
            if key not in self.frame:
                raise UserError(f"{self.name}: no column {key}")
            several = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
            frame = frame[frame[key].isna() if wanted is None else frame[key].isin(several)]
        left = [key for key in self.keys if isinstance(chosen.get(key, []), list | tuple)]
        return Table(f"{self.name} {chosen}", frame, left)

    def __call__(self, *values: Any, **others: Any) -> Quantity:
        """Return the number of the one row whose keys have these values."""
        found = self.all(*values, **others)
        if len(found) > 1:
            differ = [name for name in found[0].row if len({str(one.row[name]) for one in found}) > 1]
            asked = self.where(*values, **others).name
            raise UserError(f"{asked}: {len(found)} rows, which differ in {', '.join(differ)}")
        return found[0]

    def all(self, *values: Any, **others: Any) -> list[Quantity]:
        """Return the numbers of all rows with these keys, at least one; differences only where ``less`` is a key."""
        own = self.where(*values, **others)
        if "less" in own.frame and "less" not in others and own.frame.less.isna().any():
            own = own.where(less=None)
        if own.frame.empty:
            raise UserError(f"{own.name}: no row")
        value = next(name for name in VALUES if name in own.frame)
        return [Quantity(row[value], row) for row in own.frame.to_dict("records")]

    def column(self, name: str, **keys: Any) -> list[Any]:
        """Return the cells of a column."""
        return self.where(**keys).frame[name].tolist()


class Run:
    """The tables in a folder, as attributes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def __getattr__(self, name: str) -> Table:
        """Return a table, which is read once."""
        paths = [folder / f"{name}.csv" for folder in (self.folder, self.folder / "tables")]
        path = next((path for path in paths if path.is_file()), paths[1])
        if not path.is_file():
            raise UserError(f"{path}: no such table")
        self.__dict__[name] = Table(str(path), read_csv(path))
        return self.__dict__[name]


def digits(number: float, decimals: int = DECIMALS, unit: str = "") -> str:
    """Return a number as pages print it, with its interval if it has one."""
    if math.isnan(number):
        raise UserError("a page cannot print a number that is missing")
    row = number.row if isinstance(number, Quantity) else {}
    ends = [row.get(name, math.nan) for name in ("low", "high")]
    interval = "" if any(map(math.isnan, ends)) else f" [{', '.join(f'{end:.{decimals}f}' for end in ends)}]"
    return f"{float(number):,.{decimals}f}{unit}{interval}"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent, with its interval if it has one."""
    row = share.row if isinstance(share, Quantity) else {}
    ends = {name: 100 * row[name] + HALF_UP for name in ("low", "high") if name in row}
    return digits(Quantity(100 * share + HALF_UP, ends), decimals, " %")


def rows(table: Iterable[Sequence[Any]]) -> str:
    """Return rows of cells as lines of a Markdown table, their numbers as pages print them."""
    printed = ((digits(cell) if isinstance(cell, float) else str(cell) for cell in row) for row in table)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in printed)


def cells(table: Iterable[Sequence[Any]]) -> str:
    """Return rows of cells as lines of a Typst table; what stands in them is printed as it is."""
    printed = ((digits(cell) if isinstance(cell, float) else str(cell) for cell in row) for row in table)
    return "\n".join(" ".join(f"[{MARKUP.sub(_escaped, cell)}]," for cell in row) for row in printed)


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def above(numbers: Iterable[Quantity], bound: float = 0) -> bool:
    """Return whether the intervals of all numbers lie above a bound."""
    return all(number.low > bound for number in numbers)


def below(numbers: Iterable[Quantity], bound: float = 0) -> bool:
    """Return whether the intervals of all numbers lie below a bound."""
    return all(number.high < bound for number in numbers)


def around(numbers: Iterable[Quantity], bound: float = 0) -> bool:
    """Return whether the intervals of all numbers hold a bound."""
    return all(number.low < bound < number.high for number in numbers)


def told_apart(numbers: Iterable[Quantity]) -> bool:
    """Return whether all differences are significant after correction for several comparisons."""
    return all(number.p < SIGNIFICANT for number in numbers)


def none_told_apart(numbers: Iterable[Quantity]) -> bool:
    """Return whether no difference is significant after correction for several comparisons."""
    return all(number.p > SIGNIFICANT for number in numbers)


def of_seeds(values: Sequence[float], less: Sequence[float] | None = None) -> Quantity:
    """Return the mean of values, or of what they are above others, one by one, with Student's interval."""
    others = [0.0] * len(values) if less is None else less
    mean, low, high = student_interval([value - other for value, other in zip(values, others, strict=True)])
    return Quantity(mean, {"low": low, "high": high})


def by_seed(table: Table, value: str = "value") -> dict[int, float]:
    """Return the numbers of the rows that have a seed, of which a table has one for each."""
    found = dict(zip(table.column("seed"), table.column(value), strict=True))
    if len(found) < len(table.frame):
        raise UserError(f"{table.name}: several rows of one seed")
    return {int(seed): number for seed, number in found.items() if not math.isnan(seed)}


def paired(table: Table, less: Table) -> Quantity:
    """Return the mean difference between two tables over the seeds that both have, with Student's interval."""
    values, others = by_seed(table), by_seed(less)
    seeds = [seed for seed in values if seed in others]
    return of_seeds([values[seed] for seed in seeds], [others[seed] for seed in seeds])


def across_ranks(
    statistic: Callable[[Sequence[float], Sequence[float]], float], ranks: Sequence[int], x: Table, y: Table
) -> Quantity:
    """Return the mean over seeds of a statistic, such as a correlation, of two numbers of each rank."""
    of_rank = [(by_seed(x.where(rank=rank)), by_seed(y.where(rank=rank))) for rank in ranks]
    return of_seeds(
        [statistic([one[seed] for one, _ in of_rank], [other[seed] for _, other in of_rank]) for seed in of_rank[0][0]]
    )


def spread(values: Sequence[float]) -> float:
    """Return by which share of the largest value the smallest is below it."""
    return 1 - min(values) / max(values)


def share_of_means(part: Quantity, whole: Quantity, rest: Quantity) -> Quantity:
    """Return one mean by another over the same seeds, with Fieller's 95 % interval (1954), without values by seed.

    `rest` is the mean of what `whole` is above `part`, by seed: the three intervals by Student's t give the covariance.
    The interval holds each share s of which 0 lies in the interval of `part` - s `whole`.
    """
    in_part, in_whole, in_rest = ((of.row["high"] - of.row["low"]) ** 2 / 4 for of in (part, whole, rest))
    both = (in_part + in_whole - in_rest) / 2
    square, middle, last = whole**2 - in_whole, part * whole - both, part**2 - in_part
    if not square > 0:
        raise UserError(f"{dict(whole.row)}: it may be 0, so nothing is a share of it")
    half = math.sqrt(middle**2 - square * last)
    return Quantity(part / whole, {"low": (middle - half) / square, "high": (middle + half) / square})


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the line through points by least squares."""
    return linear_regression(x, y).slope


def holds(*statements: bool) -> None:
    """Raise if a statement beside the numbers of a page is not true of them."""
    if not all(statements):
        raise UserError("what the page says is not true of its tables")


def environment(folder: str | Path) -> jinja2.Environment:
    """Return the environment in which templates of a folder are rendered."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        extensions=["jinja2.ext.do"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: digits(value) if isinstance(value, float) else value,
    )
    made.filters |= {"digits": digits, "percent": percent, "rows": rows, "cells": cells}
    made.globals |= {"holds": holds, "above": above, "below": below, "around": around, "min": min, "max": max}
    made.globals |= {"told_apart": told_apart, "none_told_apart": none_told_apart}
    return made
