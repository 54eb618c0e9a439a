"""Table of what models show against a law that is known: levels, the share that is forced, and what stand-ins hide."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.scores.decoding import decoding_name
from oversmoothing.tables.contrasts import at, means, paired
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend
from studies.known_law.laws import LAW, STAND_INS

MEASURES = {
    "tto": "probability",
    "kl": "nats",
    "forced": "nats",
    "rest": "nats",
    "tv": "probability",
    "nsmd": "probability",
}
OF_OWN = "own_"  # before a metric: behind text that the model has written itself
FURTHER = {  # against the law alone
    f"{OF_OWN}tto": "probability",
    f"{OF_OWN}kl": "nats",
    "rejected": "probability",
    "rejected_above_both": "share of what is rejected",
    "above_both": "probability",
}
MEASURES |= FURTHER
TESTED = ("tto", *FURTHER)
LIMIT = "_limit"  # of a measure: what is left of it with ever more text, if it falls as one over the root of the text
OF_EXCESS = "law, of its excess"  # of what a model shows more than that of the highest rank, less that against the law
ARM = ["law", "sequences", "kind", "rank", "arm"]


def known_law_table(
    scores: pd.DataFrame, learners: Sequence[Mapping[str, Any]], stand_ins: Sequence[Mapping[str, str]]
) -> pd.DataFrame:
    """Return the record of levels against the law and its stand-ins, of differences, and of limits.

    It has the columns ``law`` and ``sequences``.

    `scores` has ``text``, ``model``, ``truth`` and a column for each of `MEASURES`, means over positions; `learners`
    are `plan.rows`; `stand_ins` have of each ``truth`` its kind, ``stand_ins``, and the ``model`` whose it is, which is
    held against the others. Means are over ``n`` seeds, with 95 % intervals by Student's t. Paired by seed are
    differences, from the highest rank and against stand-ins from the law, and measures that end in `LIMIT`. What claims
    are tested on, `TESTED`, also has a row for each ``seed`` of a member.
    """
    levels = scores.merge(pd.DataFrame(learners), on=["text", "model"])
    kinds = {LAW: LAW} | {of["truth"]: of["stand_ins"] for of in stand_ins}
    itself = levels.truth.map({of["truth"]: of["model"] for of in stand_ins}) == levels.model
    pooled = levels.assign(truth=levels.truth.map(kinds))[~itself]
    pooled = pooled.groupby([*ARM, "seed", "truth"], as_index=False, dropna=False)[list(MEASURES)].mean()
    values = pooled.melt([*ARM, "truth", "seed"], var_name="measure")
    members = chosen(values, kind="family")
    highest = int(members["rank"].max())
    base = at(members, kind="family", rank=highest).drop(columns="arm")
    excess = paired(members[members["rank"] != highest], base, f"rank {highest}")
    hidden = [
        paired(own[own.truth != LAW], at(own, truth=LAW), less)
        for own, less in ((values, LAW), (excess.drop(columns="less"), OF_EXCESS))
    ]
    by_seed = chosen(members, truth=LAW)
    by_seed = by_seed[by_seed.measure.isin(TESTED)].dropna(subset="value")
    rows = means(values, excess, *hidden, _with_more_text(chosen(values, truth=LAW)))
    table = record(pd.concat([rows, by_seed]))
    unit = table.measure.str.removesuffix(LIMIT).map(MEASURES)
    level = table.less.isna() & table.measure.isin(MEASURES)
    return table.assign(unit=unit, better=pd.Series("lower", table.index).where(level))


def _with_more_text(against: pd.DataFrame) -> pd.DataFrame:
    """Return c of values c + b / sqrt(n), from those of each longer text and of the shortest."""
    least = against.groupby(["law", "arm"]).sequences.transform("min")
    short = against[against.sequences == least].rename(columns={"sequences": "least"})
    keys = [name for name in against if name not in ("sequences", "value")]
    both = against[against.sequences > least].merge(short, on=keys, suffixes=("", "_short"))
    root = np.sqrt(both.sequences / both.least)
    left = (root * both.value - both.value_short) / (root - 1)
    return both.drop(columns=["least", "value_short"]).assign(measure=both.measure + LIMIT, value=left)


def named(path: str, table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns ``text`` and ``model``: files lie in ``laws/{text}/scores/{metric}/{model}.parquet``."""
    return table.assign(text=Path(path).parts[-4], model=Path(path).stem)


COLUMNS: dict[str, dict[str, Any]] = {
    "TTO": {"measure": "tto", "truth": LAW, "less": None},
    "KL (nats)": {"measure": "kl", "truth": LAW, "less": None},
    "forced": {"measure": "forced", "truth": LAW, "less": None},
    "rest": {"measure": "rest", "truth": LAW, "less": None},
    "TTO behind its own text": {"measure": f"{OF_OWN}tto", "truth": LAW, "less": None},
    "BAT rejects": {"measure": "rejected", "truth": LAW, "less": None},
    "of that, above law and full rank": {"measure": "rejected_above_both", "truth": LAW, "less": None},
    "TTO against a stand-in": {"measure": "tto", "truth": STAND_INS, "less": None},
    "TTO hidden by it": {"measure": "tto", "truth": STAND_INS, "less": LAW},
    "of its excess over the highest rank": {"measure": "tto", "truth": STAND_INS, "less": OF_EXCESS},
    "KL hidden by it": {"measure": "kl", "truth": STAND_INS, "less": LAW},
    "forced left with ever more text": {"measure": f"forced{LIMIT}"},
    "rest left with ever more text": {"measure": f"rest{LIMIT}"},
}
TITLE = "What models show against a law that is known."


def known_law_page(table: pd.DataFrame, laws: Sequence[Mapping[str, Any]]) -> Page:
    """Return the page with a section for each law and length of text."""
    others = [truth for truth in table.truth.dropna().unique() if truth not in (LAW, STAND_INS)]
    further = {
        f"{words} by {truth}": {"measure": "tto", "truth": truth, "less": less}
        for truth in others
        for words, less in (("TTO hidden", LAW), ("of its excess", OF_EXCESS))
    }
    sections = []
    for law in laws:
        of_law = table[(table.law == law["law"]) & table.seed.isna()]
        for sequences, part in of_law.groupby("sequences"):
            sections.append(
                Section(
                    f"{described(law)}, {sequences:,} sequences",
                    pivot(part.assign(model=part.arm), ["model", "rank"], COLUMNS | further, decimals=4),
                )
            )
    return Page(TITLE, sections, legend(__file__, "known_law"))


def described(law: Mapping[str, Any]) -> str:
    """Return words for a law: its name, the rank of its head and its decoding."""
    rank = f"head of rank {law['rank']}" if law["rank"] else "as it is"
    entry = law["decoding"]
    decoding = decoding_name(entry) if "chain" in entry else " ".join(f"{value}" for value in entry.values())
    return f"Law `{law['law']}` ({rank}, {decoding} sampling)"
