"""Pages of tables as data: a title, sections of rows of cells, and a legend; rows of means over seeds."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.store.layout import ARROWS
from oversmoothing.tables.record import chosen

AIMS = {"lower": -math.inf, "higher": math.inf}
DIRECTIONS = {"lower": "↓ lower is better", "higher": "↑ higher is better"}
IN_BRACKETS = "In brackets: the 95 % interval of the mean, from a bootstrap over whole windows"


@dataclass(frozen=True)
class Value:
    """A number in a table, with its standard deviation and interval if they are known."""

    mean: float | None  # None or NaN: a dash
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    rivals: str = ""  # name of the group of the section's numbers of which the best is bold
    aim: float = -math.inf  # what the best is closest to: -inf if lower is better, inf if higher is
    decimals: int | None = None  # None: those of the column (see `laid_out`)
    note: str = ""  # text after the number
    bold: bool = False  # set by `laid_out`


@dataclass(frozen=True)
class Bytes:
    """Names of bytes, separated by spaces and set in a typewriter face by LaTeX."""

    names: str


Cell = Value | Bytes | str | None  # str: prose with `code` between backticks; None: a dash

PUBLISHED = "published"  # how the columns with the thesis's numbers begin
BY = "{by}"  # in a title: "by rank of what enters the LM head", or "by model" where no row has a rank
BY_RANK = "by rank of what enters the LM head"
THESIS_TABLES = re.compile(r" \(Tables? [^)]+\)")


@dataclass(frozen=True)
class Section:
    """One table of a page.

    With `widths`, relative to each other and 1 for columns not named, LaTeX breaks long texts into lines, and the table
    into pages; without, a table too wide is shrunk to the line.
    """

    heading: str  # prose; "" for none
    rows: Sequence[Mapping[str, Cell]]  # a missing column is a dash
    widths: Mapping[str, float] | None = None
    notes: Sequence[str] = ()  # sentences on this table alone, after the page's legend
    latex: bool = True  # whether the table is also written in LaTeX

    @property
    def columns(self) -> list[str]:
        """Columns of all rows, in order of first occurrence; those with published numbers only if there are any."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        printed = [name for name in columns if name.startswith(PUBLISHED)]
        if any(_filled(row, name) for row in self.rows for name in printed):
            return columns
        return [name for name in columns if name not in printed]


@dataclass(frozen=True)
class Page:
    """A title, tables and a legend."""

    title: str  # ``{by}`` in it says by what its rows differ (see `entitled`)
    sections: Sequence[Section]
    legend: Sequence[str]  # sentences without full stops
    intervals: str = ""  # sentence on intervals; omitted in LaTeX from tables without any


MODEL = "{model}"  # in the rows of a pivot


class Name(str):
    """Name of a model in the place of a rank that it does not have."""


def label(model: Mapping[str, Any], several_seeds: bool = False) -> str:
    """Label of a model: "rank 4", "SVD rank 4" for a truncated head, the name of a truth or a checkpoint."""
    if model["kind"] == "truth" or model["rank"] is None:
        return str(model["model"])
    name = f"{'SVD rank' if model['kind'] == 'svd' else 'rank'} {model['rank']}"
    return f"{name}, seed {model['seed']}" if several_seeds else name


def model_cells(row: Mapping[str, Any], several_seeds: bool) -> dict[str, Cell]:
    """Return the first cells of a model's row: its rank, or else its name, and its seed if there are several."""
    cells: dict[str, Cell] = {"rank": str(row["rank"]) if pd.notna(row["rank"]) else Name(row["model"])}
    if several_seeds:
        cells["seed"] = str(row["seed"]) if pd.notna(row["seed"]) else None
    return cells


def by_model(table: pd.DataFrame, *further: str) -> Iterator[tuple[dict[str, Cell], pd.DataFrame]]:
    """Yield the first cells and the rows of each model of a record, or of each model and value of further columns."""
    several_seeds = table.seed.nunique() > 1
    for _, rows in table.groupby(["model", *further], sort=False):
        yield model_cells(rows.iloc[0].to_dict(), several_seeds), rows


def valued(row: Mapping[str, Any], spread: bool = True, **look: Any) -> Value:
    """Return the number of a record's row with its interval and, with `spread`, its standard deviation.

    `look` is as of `Value`.
    """
    return Value(row["value"], row["sd"] if spread else None, row["low"], row["high"], **look)


def pivot(
    table: pd.DataFrame,
    rows: Sequence[str],
    columns: Mapping[str, str | Mapping[str, Any]],
    decimals: int | Mapping[str, int] | None = None,
    spread: bool = False,
) -> list[dict[str, Cell]]:
    """Return rows of cells: one for each value of a record's columns `rows`, a number under each of `columns`.

    That is the number whose row has the label's measure, or values in columns, None for an empty one (see
    `record.chosen`), with its interval; `decimals` may differ by label, and `spread` is as of `valued`. In `rows`,
    `MODEL` stands for `model_cells`. Rows and labels without a number are left out.
    """
    table = table.reset_index(drop=True)
    keys = ["model" if name == MODEL else name for name in rows]
    place = table.groupby(keys, sort=False, dropna=False).ngroup()
    first, several_seeds = table[~place.duplicated()].to_dict("records"), "seed" in table and table.seed.nunique() > 1
    wanted = {label: {"measure": of} if isinstance(of, str) else of for label, of in columns.items()}
    shown = {label: own for label, where in wanted.items() if len(own := chosen(table, **where))}
    made: dict[int, dict[str, Cell]] = {}
    for i in sorted({place[at] for own in shown.values() for at in own.index}):
        made[i] = {}
        for name in rows:
            own = first[i].get(name)
            made[i] |= (
                model_cells(first[i], several_seeds) if name == MODEL else {name: "-" if pd.isna(own) else str(own)}
            )
        made[i] |= dict.fromkeys(shown)
    for label, own in shown.items():
        places = decimals.get(label) if isinstance(decimals, Mapping) else decimals
        for i, row in zip(place[own.index], own.to_dict("records"), strict=True):
            made[i][label] = made[i][label] or valued(row, spread, decimals=places)
    return list(made.values())


def entitled(page: Page) -> Page:
    """Return the page whose title says by what its rows differ.

    Where no row has a rank, its column of ranks is one of models. A title without ranks, as where all models are from
    the hub, names the thesis's tables only beside their numbers.
    """
    ranks = [row["rank"] for section in page.sections for row in section.rows if "rank" in row]
    if not ranks or not all(isinstance(rank, Name) for rank in ranks):
        return replace(page, title=page.title.replace(BY, BY_RANK))

    def of_models(section: Section) -> Section:
        rows = [{"model" if name == "rank" else name: cell for name, cell in row.items()} for row in section.rows]
        return replace(section, rows=rows)

    title = page.title.replace(BY, "by model")
    if not any(name.startswith(PUBLISHED) for section in page.sections for name in section.columns):
        title = THESIS_TABLES.sub("", title)
    return replace(page, title=title, sections=[of_models(section) for section in page.sections])


def labelled(label: str, better: str) -> str:
    """Return a label with an arrow for the better direction."""
    return f"{label} {ARROWS.get(better, '')}".rstrip()


def directions(better: Iterable[str]) -> str:
    """Return the meaning of the arrows of a table."""
    return ", ".join(DIRECTIONS[way] for way in dict.fromkeys(better) if way in DIRECTIONS)


def _filled(row: Mapping[str, Cell], name: str) -> bool:
    cell = row.get(name)
    return pd.notna(cell.mean) if isinstance(cell, Value) else cell is not None


def literal(text: str) -> str:
    """Return text escaped so that prose reads none of it as code."""
    return text.replace("`", r"\`")


def laid_out(section: Section) -> Section:
    """Return the section whose numbers have decimals, the same in all of a column, and whose best are bold."""
    best = _best(section)
    decimals = {name: _decimals([row.get(name) for row in section.rows]) for name in section.columns}

    def lay_out(name: str, cell: Cell) -> Cell:
        if not isinstance(cell, Value):
            return cell
        places = decimals.get(name) if cell.decimals is None else cell.decimals
        return replace(cell, decimals=places, bold=cell in best)

    return replace(section, rows=[{name: lay_out(name, cell) for name, cell in row.items()} for row in section.rows])


def _best(section: Section) -> frozenset[Value]:
    """Return the best number of each group of two rivals or more."""
    groups: dict[str, list[Value]] = {}
    for row in section.rows:
        for cell in row.values():
            if isinstance(cell, Value) and cell.rivals and pd.notna(cell.mean):
                groups.setdefault(cell.rivals, []).append(cell)
    lowest = {name: min(map(_distance, cells)) for name, cells in groups.items() if len(cells) > 1}
    return frozenset(cell for name in lowest for cell in groups[name] if _distance(cell) == lowest[name])


def _decimals(cells: Iterable[Cell]) -> int | None:
    """Return decimals of a column: three; more if all are below 0.1, one or none if all are large.

    None if all numbers are tiny.
    """
    sizes = [abs(cell.mean) for cell in cells if isinstance(cell, Value) and cell.mean and math.isfinite(cell.mean)]
    if not sizes or 0.1 <= max(sizes) < 100:
        return 3
    if max(sizes) < 0.1:
        return next((decimals for decimals in (4, 5) if max(sizes) >= 10.0 ** (2 - decimals)), None)
    return 0 if min(sizes) >= 10_000 else 1 if min(sizes) >= 10 else 3


def _distance(cell: Value) -> float:
    """Return how far a number is from what it is better to be, up to a constant."""
    mean = cell.mean or 0.0
    return math.copysign(1, -cell.aim) * mean if math.isinf(cell.aim) else abs(mean - cell.aim)


SPREAD = "Rows of several seeds: their mean ± the standard deviation between them"
ONLY = ", and the only bold numbers"


def with_seed_means(page: Page) -> Page:
    """Return the page whose sections begin with a row of means for each group of rows that differ only in seed.

    The means compete for the bold numbers in place of single seeds; text that differs between seeds is left out.
    """
    sections = [_with_means(section) for section in page.sections]
    if sections == list(page.sections):
        return page
    marked = any(isinstance(cell, Value) and cell.rivals for section in sections for cell in section.rows[0].values())
    return replace(page, sections=sections, legend=[*page.legend, SPREAD + (ONLY if marked else "")])


def _with_means(section: Section) -> Section:
    groups: dict[tuple[Cell, ...], list[Mapping[str, Cell]]] = {}
    for row in section.rows:
        if row.get("seed") is not None:
            labels = (cell for name, cell in row.items() if name != "seed" and isinstance(cell, str))
            groups.setdefault(tuple(labels), []).append(row)
    alike = [rows for rows in groups.values() if len({row["seed"] for row in rows}) == len(rows) > 1]
    if not alike:
        return section
    means = [_mean(rows, section.columns) for rows in alike]
    single = [{name: _without_rivals(cell) for name, cell in row.items()} for row in section.rows]
    return replace(section, rows=[*means, *single])


def _mean(rows: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> dict[str, Cell]:
    mean = {name: _mean_cell([row.get(name) for row in rows]) for name in columns}
    return mean | {"seed": f"mean of {len(rows)}"}


def _mean_cell(cells: Sequence[Cell]) -> Cell:
    """Return the mean of numbers, with their spread; a cell that all share (the thesis's, or a label) is kept."""
    first = cells[0]
    if all(cell == first for cell in cells):
        return first
    means = [math.nan if cell.mean is None else cell.mean for cell in cells if isinstance(cell, Value)]
    if not isinstance(first, Value) or len(means) < len(cells):
        return None
    return replace(first, mean=float(np.mean(means)), sd=float(np.std(means, ddof=1)), low=None, high=None, note="")


def _without_rivals(cell: Cell) -> Cell:
    return replace(cell, rivals="") if isinstance(cell, Value) else cell
