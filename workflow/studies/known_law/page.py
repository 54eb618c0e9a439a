"""The page of the table of known laws."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.scores.decoding import decoding_name
from oversmoothing.tables.page import Cell, Page, Section, valued
from oversmoothing.tables.story import legend
from studies.known_law.table import BIAS, EXCESS, LAW, LIMIT, STAND_INS

TITLE = "What models show against a law that is known."


def known_law_page(table: pd.DataFrame, laws: Sequence[Mapping[str, Any]]) -> Page:
    """Page with a section for each law and length of text."""
    sections = []
    for law in laws:
        for sequences, part in table[table.law == law["law"]].groupby("sequences"):
            sections.append(Section(f"{described(law)}, {sequences:,} sequences", list(_rows(part))))
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
