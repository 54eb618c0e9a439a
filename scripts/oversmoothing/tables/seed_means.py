"""Rows of means over seeds, for pages whose models were trained with several."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from oversmoothing.tables.page import Cell, Page, Section, Value

SPREAD = "Rows of several seeds: their mean ± the standard deviation between them"
ONLY = ", and the only bold numbers"


def with_seed_means(page: Page) -> Page:
    """Page whose sections begin with a row of means for each group of rows that differ only in seed.

    The means compete with each other for the bold numbers, in place of the numbers of single seeds. Columns of text
    that differs between seeds are left empty. A page of a single seed is unchanged.
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
    """Mean of numbers, with their spread; a cell that all share (the thesis's, or a label) is kept."""
    first = cells[0]
    if all(cell == first for cell in cells):
        return first
    means = [math.nan if cell.mean is None else cell.mean for cell in cells if isinstance(cell, Value)]
    if not isinstance(first, Value) or len(means) < len(cells):
        return None
    return replace(first, mean=float(np.mean(means)), sd=float(np.std(means, ddof=1)), low=None, high=None, note="")


def _without_rivals(cell: Cell) -> Cell:
    return replace(cell, rivals="") if isinstance(cell, Value) else cell
