"""The page of the table of known laws."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.scores.decoding import decoding_name
from oversmoothing.tables.page import Cell, Page, Section, valued
from oversmoothing.tables.story import legend
from studies.known_law.correlations import IMPOSSIBLE
from studies.known_law.table import BIAS, CAUGHT, ENDINGS, EXCESS, HARM, LAW, LIMIT, SEEING, SEES, STAND_INS

TITLE = "What models show against a law that is known."


def known_law_page(table: pd.DataFrame, laws: Sequence[Mapping[str, Any]]) -> Page:
    """Page with a section for each law and length of text, and one for BAT on trial."""
    sections = []
    for law in laws:
        for sequences, part in table[table.law == law["law"]].groupby("sequences"):
            sections.append(Section(f"{described(law)}, {sequences:,} sequences", list(_rows(part))))
    for of, ending in ENDINGS.items():
        trial = table[table.measure.isin([name + ending for name in (IMPOSSIBLE, CAUGHT, HARM)])]
        whose = "the model's distribution" if of == "model" else "the nearest to the law that the head can give"
        for (law, sequences), part in trial.groupby(["law", "sequences"]):
            heading = f"On trial: {law}, {sequences:,} sequences, {whose}"
            sections.append(
                Section(heading, list(_trial_rows(part.assign(measure=part.measure.str.removesuffix(ending)))))
            )
    for (law, sequences), part in table[table.measure.str.endswith(SEES)].groupby(["law", "sequences"]):
        heading = f"Which metrics see the mass on impossible bytes: {law}, {sequences:,} sequences"
        sections.append(Section(heading, list(_seeing_rows(part))))
    return Page(TITLE, sections, legend(__file__, "known_law"))


def described(law: Mapping[str, Any]) -> str:
    """Words for a law: its name, the rank of its head and its decoding."""
    rank = f"head of rank {law['rank']}" if law["rank"] else "as it is"
    entry = law["decoding"]
    decoding = decoding_name(entry) if "chain" in entry else " ".join(f"{value}" for value in entry.values())
    return f"Law `{law['law']}` ({rank}, {decoding} sampling)"


def _rows(table: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    columns = {
        "TTO": ("tto", LAW),
        "KL (nats)": ("kl", LAW),
        "forced": ("forced", LAW),
        "rest": ("rest", LAW),
        "TTO against a stand-in": ("tto", STAND_INS),
        "TTO hidden by it": (f"tto{BIAS}", None),
        "of its excess over the highest rank": (f"tto{EXCESS}{BIAS}", None),
        "KL hidden by it": (f"kl{BIAS}", None),
        "forced left with ever more text": (f"forced{LIMIT}", LAW),
        "rest left with ever more text": (f"rest{LIMIT}", LAW),
    }
    for (arm, rank), part in table.groupby(["arm", "rank"], sort=False, dropna=False):
        row: dict[str, Cell] = {"model": str(arm), "rank": "-" if pd.isna(rank) else str(rank)}
        for label, (measure, truth) in columns.items():
            found = part[(part.measure == measure) & (part.truth.isna() if truth is None else part.truth == truth)]
            if len(found):
                row[label] = valued(found.iloc[0].to_dict(), spread=False, decimals=4)
        yield row


def _trial_rows(table: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for arm, part in table.groupby("arm", sort=False):
        row: dict[str, Cell] = {"model": str(arm)}
        for cell in part.to_dict("records"):
            words = {
                IMPOSSIBLE: "mass on impossible bytes",
                HARM: f"harm of {cell['decoding']}",
                CAUGHT: f"caught by {cell['decoding']}",
            }
            row[words[cell["measure"]]] = valued(cell, spread=False, decimals=3 if cell["measure"] == CAUGHT else 4)
        yield row


def _seeing_rows(table: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for arm, part in table.groupby("arm", sort=False):
        cells = {cell["measure"].removesuffix(SEES): cell for cell in part.to_dict("records")}
        seen = {m.upper(): valued(cells[m], spread=False, decimals=3) if m in cells else "-" for m in SEEING}
        yield {"model": str(arm), **seen}
