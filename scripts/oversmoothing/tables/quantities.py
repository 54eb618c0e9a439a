"""Numbers of a run's tables for templates: each is one cell, named by its measure and keys, with its interval.

``{{ kept("default").forced("share", 4) | percent }}`` prints ``63 % [62, 63]``, and of its ``.value`` ``63 %``. A call
that does not select exactly one row is an error, so a page cannot quote a number that no table has.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import correlation, linear_regression
from typing import Any

import jinja2
import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.store.layout import read_csv

VALUES = ("value", "effect", "mean")  # the first of these that a table has is the column of its numbers
DECIMALS = 3
HALF_UP = 1e-9  # percentages are often halves, which format rounds to even numbers


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
    def crossed(self) -> "Quantity":
        """The number with its interval over seeds and windows; a `UserError` if its table has none."""
        ends = [self.row.get(name, math.nan) for name in ("low_crossed", "high_crossed")]
        if any(map(math.isnan, ends)):
            raise UserError(f"no interval over seeds and windows of {self.row.get('measure', 'a number')}")
        return Quantity(float(self), {**self.row, "low": ends[0], "high": ends[1]})

    @property
    def value(self) -> float:
        """The number alone."""
        return float(self)


class Table:
    """The rows of a table, or some of them."""

    def __init__(self, name: str, frame: pd.DataFrame) -> None:
        self.name, self.frame = name, frame

    def where(self, *measure_and_rank: Any, **keys: Any) -> "Table":
        """Return the rows that have these keys: a value, one of a list, or None for an empty cell."""
        keys = dict(zip(("measure", "rank"), measure_and_rank, strict=False)) | keys
        frame = self.frame
        for key, wanted in keys.items():
            if key not in self.frame:
                raise UserError(f"{self.name}: no column {key}")
            several = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
            frame = frame[frame[key].isna() if wanted is None else frame[key].isin(several)]
        return Table(f"{self.name} {keys}", frame)

    def __call__(self, *measure_and_rank: Any, **keys: Any) -> Quantity:
        """Return the number of the one row with a measure, a rank and other keys."""
        found = self.all(*measure_and_rank, **keys)
        if len(found) > 1:
            differ = [name for name in found[0].row if len({str(one.row[name]) for one in found}) > 1]
            asked = self.where(*measure_and_rank, **keys).name
            raise UserError(f"{asked}: {len(found)} rows, which differ in {', '.join(differ)}")
        return found[0]

    def all(self, *measure_and_rank: Any, **keys: Any) -> list[Quantity]:
        """Return the numbers of all rows with these keys, at least one; differences only where ``less`` is a key."""
        own = self.where(*measure_and_rank, **keys)
        if "less" in own.frame and "less" not in keys and own.frame.less.isna().any():
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


def of_seeds(values: Sequence[float], less: Sequence[float] | None = None) -> Quantity:
    """Return the mean of values, or of what they are above others, one by one, with Student's interval."""
    others = [0.0] * len(values) if less is None else less
    mean, low, high = student_interval([value - other for value, other in zip(values, others, strict=True)])
    return Quantity(mean, {"low": low, "high": high})


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


def holds(statement: bool) -> None:
    """Raise if a statement beside the numbers of a page is not true of them."""
    if not statement:
        raise UserError("what the page says is not true of its tables")


def environment(folder: str | Path, **names: Any) -> jinja2.Environment:
    """Return the environment in which templates of a folder are rendered, with more names for them."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        extensions=["jinja2.ext.do"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: digits(value) if isinstance(value, float) else value,
    )
    made.filters |= {"digits": digits, "percent": percent}
    made.globals |= {"holds": holds, "of_seeds": of_seeds, "at_loss": at_loss, "min": min, "max": max}
    made.globals |= {"correlation": correlation, "slope": slope, "share_of_means": share_of_means, **names}
    return made
