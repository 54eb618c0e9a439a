"""The page of the table of other output layers and objectives."""

from collections.abc import Iterator, Mapping

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, valued
from oversmoothing.tables.story import legend
from studies.other_explanations.kinds import LINEAR_HEADS, SHORTER
from studies.other_explanations.table import (
    AT_LOSS,
    AT_OPERATIONS,
    AT_PARAMETERS,
    AT_TTO,
    LESS_LINEAR,
    MEASURES,
    MORE_THAN_AT_FULL,
)

TITLE = "What other output layers and other objectives are worth, beside linear heads that learn from cross-entropy."
LABELS = {
    "loss": "loss (nats)",
    "kl": "KL (nats)",
    "tto": "TTO",
    "tv": "TV",
    "impossible": "mass on impossible bytes",
    "temperature": "temperature of the linear head",
}
SECTIONS = {  # by the ending of their measures
    "": "levels",
    LESS_LINEAR: "less the linear head of the same rank",
    MORE_THAN_AT_FULL: "the same, less that of the same head or objective at the highest rank",
    AT_PARAMETERS: "less linear heads of as many parameters",
    AT_OPERATIONS: "less linear heads of as many operations",
    AT_LOSS: "less the full linear head at equal loss",
    AT_TTO: "less the linear head of the same rank at the temperature with as much TTO",
}


def explanations_page(table: pd.DataFrame, titles: Mapping[str, str], truth: str) -> Page:
    """Page with sections of each text: levels, then differences at equal rank, size and loss."""
    sections = []
    for law in dict.fromkeys(table.law[table.n.notna()].fillna("")):
        part = table[(table.law.fillna("") == law) & table.n.notna()]
        for ending, heading in SECTIONS.items():
            if rows := list(_rows(part, ending, titles)):
                sections.append(Section(f"{described(law, truth)}: {heading}", rows))
    if sections:
        sections.append(Section("Sizes of the heads", list(_size_rows(table, titles))))
    return Page(TITLE, sections, legend(__file__, "explanations", seeds=int(table.n.max())))


def described(law: str, truth: str) -> str:
    """Words for a text: that of a law, or real text and its truth."""
    return f"Text of the law `{law}`" if law else f"Real text, against `{truth}`"


def named(arm: str, kind: str, titles: Mapping[str, str]) -> str:
    """What a page calls an arm: the title of its kind, and its name."""
    title = {LINEAR_HEADS: "linear head, cross-entropy", SHORTER: "the same, fewer steps"}.get(kind, titles[kind])
    return f"{title} (`{arm}`)"


def _rows(table: pd.DataFrame, ending: str, titles: Mapping[str, str]) -> Iterator[dict[str, Cell]]:
    columns = {name + ending: LABELS[name] for name in MEASURES}
    shown = table[table.measure.isin(columns)]
    for (kind, rank, arm), part in shown.groupby(["kind", "rank", "arm"], sort=False):
        cells = {cell["measure"]: cell for cell in part.to_dict("records")}
        row: dict[str, Cell] = {"model": named(arm, kind, titles), "rank": str(rank)}
        yield row | {label: valued(cells[name], spread=False) for name, label in columns.items() if name in cells}


def _size_rows(table: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[dict[str, Cell]]:
    sizes = table[table.measure.str.startswith("head_")]
    for (kind, rank, arm), part in sizes.groupby(["kind", "rank", "arm"], sort=False):
        if kind != SHORTER:
            by_size = part.set_index("measure").value
            numbers = {"parameters": by_size.head_parameters, "multiplications a byte": by_size.head_products}
            yield {
                "model": named(arm, kind, titles),
                "rank": str(rank),
                **{label: f"{int(number):,}" for label, number in numbers.items()},
            }
