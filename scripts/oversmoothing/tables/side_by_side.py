"""Models beside their truths, as llama.cpp's ``--kl-divergence`` compares them: means and quantiles of positions."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.measures.entries.side_by_side import LEVELS, MEASURE
from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.numerics.window_quantiles import window_quantiles
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.page import MODEL, Page, Section, directions, labelled, literal, pivot
from oversmoothing.tables.record import facts, numbers, record
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
    """Record of the `UNITS`, and of quantiles of KL and dp, of each model beside each truth, from their files."""
    rows = []
    for model, path in zip(models, paths, strict=True):
        positions = read_table(path).to_pandas()
        for truth, of_truth in positions.groupby("truth", sort=False, observed=True):
            for row in _measured(of_truth, resamples, seed):
                unit, better = UNITS[row["measure"]]
                rows.append({**facts(model), "truth": truth, **row, "unit": unit, "better": better})
    return record(rows)


def _measured(positions: pd.DataFrame, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of one model beside one truth."""
    windows = positions.window.to_numpy()

    def mean(values: np.ndarray) -> Summary:
        sums = WindowSums()
        sums.add(windows, values)
        return summarise(sums, resamples, seed)

    means = {name: mean(positions[name].to_numpy(np.float64)) for name in ("log_ratio", "same_top", "kl", "dp")}
    means["perplexity_ratio"] = _mapped(means["log_ratio"], math.exp)
    means["dp_rms"] = _mapped(mean(positions.dp.to_numpy(np.float64) ** 2), math.sqrt)
    for measure in UNITS:
        yield {"measure": measure, **numbers(means[measure])}
    for measure in SPREAD:
        for found in window_quantiles(positions[measure].to_numpy(), windows, LEVELS, resamples, seed):
            held = {"value": found.value, "low": found.low, "high": found.high, "n": len(positions)}
            yield {"measure": measure, "quantile": found.level, **held}


def _mapped(summary: Summary, to: Any) -> Summary:
    """Summary of an increasing function of a mean, whose interval is that of the mean, mapped; without sd."""
    mapped = {name: to(value) for name in ("mean", "low", "high") if not math.isnan(value := getattr(summary, name))}
    return replace(summary, sd=math.nan, **mapped)


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
