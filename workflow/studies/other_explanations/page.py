"""The page of the table of other output layers and objectives."""

from collections.abc import Iterator, Mapping

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, pivot
from oversmoothing.tables.record import chosen
from oversmoothing.tables.story import legend
from studies.other_explanations.kinds import LINEAR_HEADS, SHORTER
from studies.other_explanations.table import EQUAL_LOSS, EQUAL_TTO, GAIN, OPERATIONS, PARAMETERS

TITLE = "What other output layers and other objectives are worth, beside linear heads that learn from cross-entropy."
LABELS = {
    "loss": "loss (nats)",
    "kl": "KL (nats)",
    "tto": "TTO",
    "tv": "TV",
    "impossible": "mass on impossible bytes",
}
TEMPERATURE: dict[str, dict[str, str | None]] = {"temperature of the linear head": {"measure": "temperature"}}
SECTIONS = {  # by what is subtracted
    None: "levels",
    LINEAR_HEADS: "less the linear head of the same rank",
    GAIN: "the same, less that of the same head or objective at the highest rank",
    PARAMETERS: "less linear heads of as many parameters",
    OPERATIONS: "less linear heads of as many operations",
    EQUAL_LOSS: "less the full linear head at equal loss",
    EQUAL_TTO: "less the linear head of the same rank at the temperature with as much TTO",
}


def explanations_page(table: pd.DataFrame, titles: Mapping[str, str], truth: str) -> Page:
    """Page with sections of each text: levels, then differences at equal rank, size and loss."""
    sections = []
    table = table.assign(model=[named(arm, kind, titles) for arm, kind in zip(table.arm, table.kind, strict=True)])
    for law in dict.fromkeys(table.law[table.n.notna()].fillna("")):
        of_law = chosen(table.dropna(subset="n"), law=law or None)
        for less, heading in SECTIONS.items():
            columns: dict[str, dict[str, str | None]] = {
                label: {"measure": name, "less": less} for name, label in LABELS.items()
            }
            more = TEMPERATURE if less == EQUAL_TTO else {}
            if rows := pivot(of_law, ["model", "rank"], columns | more):
                sections.append(Section(f"{described(law, truth)}: {heading}", rows))
    if sections:
        sections.append(Section("Sizes of the heads", list(_size_rows(table))))
    return Page(TITLE, sections, legend(__file__, "explanations", seeds=int(table.n.max())))


def described(law: str, truth: str) -> str:
    """Words for a text: that of a law, or real text and its truth."""
    return f"Text of the law `{law}`" if law else f"Real text, against `{truth}`"


def named(arm: str, kind: str, titles: Mapping[str, str]) -> str:
    """What a page calls an arm: the title of its kind, and its name."""
    title = {LINEAR_HEADS: "linear head, cross-entropy", SHORTER: "the same, fewer steps"}.get(kind, titles[kind])
    return f"{title} (`{arm}`)"


def _size_rows(table: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    sizes = table[table.measure.str.startswith("head_") & (table.kind != SHORTER)]
    for (model, rank), part in sizes.groupby(["model", "rank"], sort=False):
        by_size = part.set_index("measure").value
        numbers = {"parameters": by_size.head_parameters, "multiplications a byte": by_size.head_products}
        yield {"model": model, "rank": str(rank), **{label: f"{int(own):,}" for label, own in numbers.items()}}
