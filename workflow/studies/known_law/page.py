"""The page of the table of known laws."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.scores.decoding import decoding_name
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.story import legend
from studies.known_law.laws import LAW, STAND_INS
from studies.known_law.table import LIMIT, OF_EXCESS

COLUMNS: dict[str, dict[str, Any]] = {
    "TTO": {"measure": "tto", "truth": LAW, "less": None},
    "KL (nats)": {"measure": "kl", "truth": LAW, "less": None},
    "forced": {"measure": "forced", "truth": LAW, "less": None},
    "rest": {"measure": "rest", "truth": LAW, "less": None},
    "TTO against a stand-in": {"measure": "tto", "truth": STAND_INS, "less": None},
    "TTO hidden by it": {"measure": "tto", "truth": STAND_INS, "less": LAW},
    "of its excess over the highest rank": {"measure": "tto", "truth": STAND_INS, "less": OF_EXCESS},
    "KL hidden by it": {"measure": "kl", "truth": STAND_INS, "less": LAW},
    "forced left with ever more text": {"measure": f"forced{LIMIT}"},
    "rest left with ever more text": {"measure": f"rest{LIMIT}"},
}
TITLE = "What models show against a law that is known."


def known_law_page(table: pd.DataFrame, laws: Sequence[Mapping[str, Any]]) -> Page:
    """Page with a section for each law and length of text."""
    others = [truth for truth in table.truth.dropna().unique() if truth not in (LAW, STAND_INS)]
    further = {
        f"{words} by {truth}": {"measure": "tto", "truth": truth, "less": less}
        for truth in others
        for words, less in (("TTO hidden", LAW), ("of its excess", OF_EXCESS))
    }
    sections = []
    for law in laws:
        for sequences, part in table[table.law == law["law"]].groupby("sequences"):
            sections.append(
                Section(
                    f"{described(law)}, {sequences:,} sequences",
                    pivot(part.assign(model=part.arm), ["model", "rank"], COLUMNS | further, decimals=4),
                )
            )
    return Page(TITLE, sections, legend(__file__, "known_law"))


def described(law: Mapping[str, Any]) -> str:
    """Words for a law: its name, the rank of its head and its decoding."""
    rank = f"head of rank {law['rank']}" if law["rank"] else "as it is"
    entry = law["decoding"]
    decoding = decoding_name(entry) if "chain" in entry else " ".join(f"{value}" for value in entry.values())
    return f"Law `{law['law']}` ({rank}, {decoding} sampling)"
