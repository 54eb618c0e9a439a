"""What the heads of models force of their distance from each truth: the table, and the figure of the family."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from oversmoothing.forced.face import UNDECIDED, YES
from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import Summary, WindowSums, share_of_mean, summarise
from oversmoothing.scores.sums import window_means
from oversmoothing.store.parquet import read_groups
from oversmoothing.tables.contrasts import widened
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import IN_BRACKETS, MODEL, Page, Section, pivot
from oversmoothing.tables.record import chosen, facts, numbers, read_record, record
from oversmoothing.tables.story import legend
from studies.forced_part.added import ADDED, FORCED, LESS, OF_FORCED, with_added
from studies.forced_part.figure import draw

AVERAGED = ("kl", "forced", "rest", "tto", "nearest_tto", "tv", "nearest_tv")
Sums = dict[tuple[str, str], WindowSums]  # by truth and measure
SHARE, FACE, GAP = "share", "face", "gap"
BEHIND_NORM = ("norm_kl", "norm_forced")
UNITS = dict.fromkeys(("tto", "nearest_tto", "tv", "nearest_tv"), "probability")  # all others are nats
UNITS |= {SHARE: "share of KL", FACE: "share of positions"}
COLUMNS = {
    "KL (nats)": "kl",
    "forced (nats)": "forced",
    "the rest (nats)": "rest",
    "share forced": SHARE,
    "TTO": "tto",
    "TTO of q*": "nearest_tto",
    "TV": "tv",
    "TV of q*": "nearest_tv",
    "faces": FACE,
    "KL added (nats)": ADDED,
    "forced, share of KL added": FORCED,
    "forced with norm (nats)": "norm_forced",
    "of KL there (nats)": "norm_kl",
}
OF_RANKS = {"KL added (nats)": ADDED, "behind its LayerNorm": FORCED}  # means over seeds
DECIMALS = dict.fromkeys(COLUMNS, 3) | dict.fromkeys(
    ("forced (nats)", "forced with norm (nats)"), 4
)  # small at high ranks


def main(job: Job) -> None:
    """Read what the heads force; write the table, and for the family the figure, in all formats."""
    settings = job.params.settings
    summed = {Path(path).stem: sums_of(path) for path in job.input.scores}
    summaries = {
        model: summarise_forced(*of_model, settings["resamples"], settings["seed"])
        for model, of_model in summed.items()
    }
    windows = by_window({model: sums for model, (sums, _) in summed.items()}, ("kl", "forced"))
    table = with_added(measures_table(summaries, settings["models"]), OF_FORCED, windows)
    write_record(job.output, table, forced_page(table, settings["title"]))
    if any(model["kind"] == "family" for model in settings["models"]):
        write_figure(draw(read_record(job.output.csv)), [job.output.png, job.output.pdf, job.output.svg])


def sums_of(path: str | Path) -> tuple[Sums, dict[str, float]]:
    """Sum one file ``scores/forced/{model}.parquet`` by truth and measure; return also the largest gap by truth."""
    sums: Sums = {}
    largest: dict[str, float] = {}
    for group in read_groups(path, ["window", "truth", *AVERAGED, GAP, FACE, "norm_forced"]):
        truths, windows = group["truth"].cast(pa.string()).to_numpy(zero_copy_only=False), group["window"].to_numpy()
        for truth in dict.fromkeys(truths.tolist()):
            here = truths == truth
            face = group[FACE].to_numpy()
            decided = here & (face != UNDECIDED)
            values = {measure: (here, group[measure].to_numpy()) for measure in AVERAGED}
            values[FACE] = (decided, (face == YES).astype(float))
            together = group["norm_forced"].to_numpy(zero_copy_only=False)
            known = here & ~np.isnan(together)
            values["norm_kl"], values["norm_forced"] = (known, group["kl"].to_numpy()), (known, together)
            for measure, (rows, column) in values.items():
                sums.setdefault((truth, measure), WindowSums()).add(windows[rows], column[rows])
            largest[truth] = max(largest.get(truth, 0.0), float(group[GAP].to_numpy()[here].max()))
    return sums, largest


def by_window(sums: Mapping[str, Sums], measures: Sequence[str]) -> pd.DataFrame:
    """Return means by window of measures, from the sums of each model."""
    return pd.concat(
        window_means(own).assign(model=model, truth=truth, measure=measure)
        for model, of_model in sums.items()
        for (truth, measure), own in of_model.items()
        if measure in measures
    )


def summarise_forced(
    sums: Sums, largest: Mapping[str, float], resamples: int, seed: int
) -> dict[tuple[str, str], Summary]:
    """Return summaries by truth and measure of what `sums_of` returns.

    Measures are `AVERAGED`; `SHARE`, the mean of ``forced`` as a share of the mean of ``kl``; `FACE`, the share of
    positions that are a face, of those that are decided; `BEHIND_NORM`, over the positions at which what norm and head
    force was computed; and `GAP`, the largest, which has no interval.
    """
    summaries = {}
    for truth, gap in largest.items():
        for measure in (*AVERAGED, FACE, *BEHIND_NORM):
            if sums[truth, measure].count:
                summaries[truth, measure] = summarise(sums[truth, measure], resamples, seed)
        forced, whole = sums[truth, "forced"], sums[truth, "kl"]
        n = summaries[truth, "kl"].n
        share, low, high = share_of_mean(forced, whole, resamples, seed)
        if math.isnan(share) and whole.mean > 0:  # a single window
            share = forced.mean / whole.mean
        summaries[truth, SHARE] = Summary(share, math.nan, n, low, high)
        summaries[truth, GAP] = Summary(gap, math.nan, n, math.nan, math.nan)
    return summaries


def measures_table(
    summaries: Mapping[str, Mapping[tuple[str, str], Summary]], models: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Return the record of all measures; `summaries` are by model, then by truth and measure."""
    return record(
        {**facts(model), "truth": truth, "measure": measure, **numbers(summary), "unit": UNITS.get(measure, "nats")}
        for model in models
        for (truth, measure), summary in summaries[model["model"]].items()
    )


def forced_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section per truth and a row per model."""
    named = table[table.model.notna()].assign(head=table.kind.map(TITLES))
    sections = [
        Section(
            f"Against `{truth}`",
            pivot(part, [MODEL, *(["head"] if part.kind.nunique() > 1 else [])], COLUMNS, DECIMALS),
        )
        for truth, part in named.groupby("truth", sort=False)
    ]
    sections += added_section(table, OF_RANKS)
    counts = table.n[table.measure == "norm_forced"]
    on_norm = None if counts.empty else int(counts.max())
    gap = f"{table.value[table.measure == GAP].max():.1g}"
    added = (table.measure == FORCED).any()
    words = legend(__file__, "forced", n=int(table.n.max()), on_norm=on_norm, gap=gap, added=added)
    return Page(title, sections, words, IN_BRACKETS)


def added_section(table: pd.DataFrame, columns: Mapping[str, str]) -> list[Section]:
    """Return the section with the shares of what each rank adds, means over seeds; none without several seeds."""
    over_both, _ = widened(chosen(table, less=LESS, seed=None))
    rows = pivot(over_both, ["rank", "truth"], columns)
    return [Section("Of the KL that a rank adds to that of full rank, over seeds, forced by", rows)] if rows else []


if __name__ == "__main__":
    run(main)
