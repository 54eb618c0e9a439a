"""Table of the parts of each model's distance from a truth: the rank's, its head's, its norm's and the rest."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import IN_BRACKETS, MODEL, Page, Section, pivot
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend
from studies.forced_part.added import ADDED, FORCED, OF_BEST_HEAD, with_added
from studies.forced_part.table import added_section, by_window

Sums = dict[tuple[str, str], WindowSums]  # by truth and measure
TITLE = "What a model's rank forces, and what its own head, norm and trunk add."
FITTED, GAP = "rank_fitted", "gap"
PARTS = ("rank", "head", "norm")
COLUMNS = {
    "KL (nats)": "kl",
    "by the rank, at most": "rank",
    "by the head, at least": "head",
    "by the norm's dimension": "norm",
    "the rest": "rest",
    "by the rank, where fitted": FITTED,
}
OF_RANKS = {
    "KL added (nats)": ADDED,
    "the best head found, at most": "best_of_added",
    "the trained head": "trained_of_added",
    "behind its LayerNorm": FORCED,
}  # means over seeds
DECIMALS = dict.fromkeys(COLUMNS, 4) | {"KL (nats)": 3, "the rest": 3}


def main(job: Job) -> None:
    """Read what heads and the best ones force; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    summed = {Path(path).stem: sums_of(path) for path in job.input.scores}
    how = settings["resamples"], settings["seed"]
    summaries = {model: summarise_best_head(*of_model, *how) for model, of_model in summed.items()}
    parts = {
        model: {key: own for key, own in sums.items() if key[1] in ("kl", *PARTS)}
        for model, (sums, _) in summed.items()
    }
    table = with_added(measures_table(summaries, settings["models"]), OF_BEST_HEAD, by_window(parts))
    write_record(job.output, table, best_head_page(table))


def sums_of(path: str | Path) -> tuple[Sums, dict[str, Summary]]:
    """Sum one file ``scores/best_head/{model}.parquet`` by truth and measure, in nats; return also the largest gaps.

    On the windows that no head was fitted to: ``kl`` and its parts ``rank`` (forced by the best head), ``head`` (by the
    model's own beyond that), ``norm`` (by the dimension that its LayerNorm takes, beyond that) and ``rest``. On the
    others: `FITTED`, the part of the rank. `GAP` is the largest, without an interval.
    """
    sums: Sums = {}
    gaps = {}
    for truth, rows in read_table(path).to_pandas().groupby("truth", observed=True):
        held = rows[~rows.fitted]
        parts = {
            "kl": (held, held.kl),
            "rank": (held, held.best),
            "head": (held, held.free - held.best),
            "norm": (held, held.forced - held.free),
            "rest": (held, held.kl - held.forced),
            FITTED: (rows[rows.fitted], rows.best[rows.fitted]),
        }
        for measure, (part, values) in parts.items():
            sums[str(truth), measure] = WindowSums.of(part.window, values)
        gaps[str(truth)] = Summary(float(rows.gap.max()), math.nan, len(rows), math.nan, math.nan)
    return sums, gaps


def summarise_best_head(
    sums: Sums, gaps: Mapping[str, Summary], resamples: int, seed: int
) -> dict[tuple[str, str], Summary]:
    """Return summaries by truth and measure of what `sums_of` returns."""
    summaries = {key: summarise(own, resamples, seed) for key, own in sums.items()}
    return summaries | {(truth, GAP): gap for truth, gap in gaps.items()}


def measures_table(
    summaries: Mapping[str, Mapping[tuple[str, str], Summary]], models: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Return the record of all measures; `summaries` are by model, then by truth and measure."""
    return record(
        {**facts(model), "truth": truth, "measure": measure, **numbers(summary), "unit": "nats"}
        for model in models
        for (truth, measure), summary in summaries[model["model"]].items()
    )


def best_head_page(table: pd.DataFrame) -> Page:
    """Return the page with a section per truth and a row per model."""
    sections = [
        Section(f"Against `{truth}`", pivot(part, [MODEL], COLUMNS, DECIMALS))
        for truth, part in table[table.model.notna()].groupby("truth", sort=False)
    ]
    sections += added_section(table, OF_RANKS)
    n = int(table.n[table.measure == "kl"].max())
    gap = f"{table.value[table.measure == GAP].max():.1g}"
    return Page(
        TITLE, sections, legend(__file__, "best_head", n=n, gap=gap, added=(table.measure == FORCED).any()), IN_BRACKETS
    )


if __name__ == "__main__":
    run(main)
