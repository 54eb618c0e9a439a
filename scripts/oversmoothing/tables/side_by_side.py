"""Models beside their truths, as llama.cpp's ``--kl-divergence`` compares them: means and quantiles of positions."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.measures.entries.side_by_side import MEASURE
from oversmoothing.measures.summaries import read_sums
from oversmoothing.tables.page import MODEL, Page, Section, directions, labelled, literal, pivot
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend

NAMES = {1: "max", 0.5: "median", 0: "min"}
OURS = MEASURE.statistics
UNITS = {name: (of.unit, of.better) for name, of in OURS.items()}
SPREAD = {name: of.label for name, of in OURS.items() if of.levels}  # whose quantiles are shown
LABELS = {name: of.label for name, of in OURS.items() if not of.levels}
TITLE = "Models beside their truths, as llama.cpp compares them."


def side_by_side_table(
    paths: Iterable[str | Path], models: Iterable[Mapping[str, Any]], resamples: int, seed: int
) -> pd.DataFrame:
    """Return the record of the `UNITS`, and of quantiles of KL and dp, of each model beside each truth."""
    return record(
        {**facts(model), "truth": truth, **row}
        for model, path in zip(models, paths, strict=True)
        for truth, sums in read_sums(path, MEASURE).items()
        for row in sums.rows(resamples, seed)
    )


def named(level: float) -> str:
    """Name of a quantile: "max", "99.9 %", "median"."""
    return NAMES.get(level, f"{100 * level:g} %")


def side_by_side_page(table: pd.DataFrame, unit: str = "token") -> Page:
    """Page with a row of means for each model and truth, and a table of quantiles for each."""
    columns = {
        labelled(LABELS.get(measure, f"mean {SPREAD.get(measure)}").format(unit=unit), str(better)): measure
        for measure, (_, better) in UNITS.items()
    }
    means = pivot(table[table["quantile"].isna()], [MODEL, "truth"], columns)
    quantiles = table.dropna(subset="quantile").assign(quantile=lambda rows: rows["quantile"].map(named))
    spread = {label: measure for measure, label in SPREAD.items()}
    sections = [
        Section(
            f"Quantiles of `{literal(str(model))}` beside `{literal(str(truth))}`",
            pivot(rows, ["quantile"], spread, decimals=6),
        )
        for (model, truth), rows in quantiles.groupby(["model", "truth"], sort=False)
    ]
    words = legend(__file__, "side_by_side", unit=unit, n=int(table.n.max()))
    return Page(TITLE, [Section("", means), *sections], [*words, directions(table.better)])
