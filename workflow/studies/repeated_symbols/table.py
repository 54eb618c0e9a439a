"""Table of what it takes to learn to repeat a symbol: draws and steps, by arm and vocabulary."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.tables.page import Cell, Page, Section, valued
from oversmoothing.tables.record import record
from studies.repeated_symbols.arms import ARMS, FULL, LONG, title, vocabularies

INTERVAL = ("value", "low", "high")
NEEDED = {"draws": "draws per symbol", "steps": "steps"}
OCTAVES = "draws_octaves"  # of the draws needed, above those at the smallest vocabulary of the arm
ABOVE = "draws_above_full"  # ratio of the draws needed to those of the full head at the vocabulary, in octaves
APART = "length_difference"
TITLE = "What it takes to learn to repeat one of v symbols."


def repeated_table(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Draws and steps needed, final losses, and how far long and short sequences are apart.

    Parameters
    ----------
    runs : DataFrame
        ``arm`` and the columns of `measure.LOSSES`.
    settings : mapping
        The section ``repeated_symbols`` of the config.

    Returns
    -------
    DataFrame
        Record; ``kind`` is the arm, ``vocabulary`` v, intervals are 95 % by Student's t over ``n`` seeds. Measures:
        ``draws`` of a symbol and ``steps`` until the loss is `threshold` of log v, without a value where a seed does
        not come to it; `OCTAVES`, the binary logarithm of the ratio of the draws to those at the smallest v, and
        `ABOVE`, to those of the full head at the same v, both paired by seed; ``loss``, the last one, in nats, after
        ``step`` steps; and `APART`, the largest difference between the losses of one and of many tokens at equal draws.
    """
    rows: list[dict[str, Any]] = []
    needed: dict[tuple[str, int], list[float]] = {}
    for (name, v), cell in runs[~runs.trial].groupby(["arm", "vocabulary"]):
        facts = {"kind": name, "vocabulary": v, "learning_rate": cell.learning_rate.iloc[0], "better": "lower"}
        each = [of_seed for _, of_seed in cell.groupby("seed")]
        reached = settings["threshold"] * math.log(v)
        needed[name, v] = [at_loss(one.loss.tolist(), one.draws.tolist(), reached) for one in each]
        per_draw = float(each[0].step.iloc[-1] / each[0].draws.iloc[-1])
        for measure, factor in (("draws", 1.0), ("steps", per_draw)):
            values = [factor * value for value in needed[name, v]]
            rows.append({**facts, "measure": measure, **_over_seeds(values), "unit": NEEDED[measure]})
        last = {"step": max(one.step.iloc[-1] for one in each), "unit": "nats"}
        rows.append({**facts, "measure": "loss", **_over_seeds([one.loss.iloc[-1] for one in each]), **last})
    for (name, v), values in needed.items():
        smallest = (name, vocabularies(name, settings)[0])
        for measure, base in ((OCTAVES, smallest), (ABOVE, (FULL, v))):
            if base != (name, v) and base in needed:
                octaves = np.log2(values) - np.log2(needed[base])
                facts = {"kind": name, "vocabulary": v, "measure": measure, "unit": "octaves"}
                rows.append({**facts, **_over_seeds(octaves.tolist())})
    order = {name: i for i, name in enumerate(ARMS)}
    rows.sort(key=lambda row: (order[row["kind"]], row["vocabulary"]))
    return record([*rows, _apart(runs)])


def repeated_page(table: pd.DataFrame, settings: Mapping[str, Any]) -> Page:
    """Page with a section for each arm and a row for each vocabulary."""
    sections = []
    for name in ARMS:
        values = table[(table.kind == name) & (table.measure != APART)]
        heading = title(name, settings)
        sections.append(Section(heading[0].upper() + heading[1:], list(_rows(values))))
    apart = table[table.measure == APART].iloc[0]
    share = f"{100 * settings['threshold']:g} %"
    legend = [
        f"Mean over {len(settings['seeds'])} seeds [95 % interval by Student's t]; with one seed and size of batch all "
        f"arms draw the same symbols. The rate of a row is the best of {len(settings['rates'])}, on another seed",
        f"Draws per symbol and steps until the loss is {share} of log v, that of knowing nothing; -: a seed has not "
        f"come to it after {settings['draws']} draws per symbol or {settings['steps']:,} steps",
        f"A step draws v / {settings['steps_per_draw']} symbols, unless the heading says how many",
        "Octaves: binary logarithm of the ratio of draws per symbol, paired by seed",
        f"At equal draws, sequences of {settings['length']} tokens and of one have the same loss to within "
        f"{apart['value']:.1g} nats, at v = {apart['vocabulary']:,}",
    ]
    return Page(TITLE, sections, legend)


def _rows(table: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    columns = {
        "draws": ("draws per symbol", 2),
        OCTAVES: ("octaves above the smallest v", 2),
        ABOVE: ("octaves above the full head", 2),
        "steps": ("steps", 0),
        "loss": ("last loss (nats)", 2),
    }
    for v, part in table.groupby("vocabulary"):
        values = part.set_index("measure").to_dict("index")
        row: dict[str, Cell] = {"v": f"{v:,}", "rate": f"{values['loss']['learning_rate']:g}"}
        for measure, (label, decimals) in columns.items():
            known = values.get(measure)
            row[label] = valued(known, spread=False, decimals=decimals) if known else None
        yield row


def _over_seeds(values: Sequence[float]) -> dict[str, Any]:
    missing = sum(map(math.isnan, values))
    note = f"{missing} of {len(values)} seeds have not come to it" if missing else None
    interval = dict(zip(INTERVAL, student_interval(values), strict=True))
    return {**interval, "n": len(values), "note": note}


def _apart(runs: pd.DataFrame) -> dict[str, Any]:
    """Return the largest difference between the losses of long sequences and of single tokens, at each step of both."""
    keys = ["vocabulary", "seed", "learning_rate", "step"]
    compared = {name: runs[(runs.arm == name) & ~runs.trial] for name in (FULL, LONG)}
    both = compared[LONG].merge(compared[FULL], on=keys, suffixes=("_long", ""))
    value = float((both.loss_long - both.loss).abs().max())
    facts = {"kind": LONG, "vocabulary": compared[LONG].vocabulary.iloc[0], "measure": APART, "unit": "nats"}
    return {**facts, "value": value, "n": len(both)}
