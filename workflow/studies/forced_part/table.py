"""What the heads of models force of their distance from each truth: the table, and the figure of the family."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.measures.entries.forced import MEASURE
from oversmoothing.measures.summaries import Sums, read_sums
from oversmoothing.numerics.statistics import WindowSums
from oversmoothing.scores.sums import window_means
from oversmoothing.tables.contrasts import widened
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import IN_BRACKETS, MODEL, Page, Section, pivot
from oversmoothing.tables.record import chosen, facts, read_record, record
from oversmoothing.tables.story import legend
from studies.forced_part.added import ADDED, FORCED, LESS, OF_FORCED, with_added
from studies.forced_part.figure import draw

DIVIDED = ("kl", "forced")  # of which shares of what a rank adds are made
SHORTER = {"forced": "forced (nats)", "share": "share forced"}  # headings of columns than labels of rows
OF_RANKS = {"KL added (nats)": ADDED, "behind its LayerNorm": FORCED}  # means over seeds


def _columns(*names: str) -> dict[str, str]:
    return {SHORTER.get(name, MEASURE.statistics[name].label): name for name in names}


COLUMNS = {
    **_columns("kl", "forced", "rest", "share", "tto", "nearest_tto", "tv", "nearest_tv", "face"),
    **{"KL added (nats)": ADDED, "forced, share of KL added": FORCED},
    **_columns("norm_forced", "norm_kl"),
}
DECIMALS = {label: of.decimals or 0 if (of := MEASURE.statistics.get(name)) else 3 for label, name in COLUMNS.items()}


def main(job: Job) -> None:
    """Read what the heads force; write the table, and for the family the figure, in all formats."""
    settings = job.params.settings
    sums = {Path(path).stem: read_sums(path, MEASURE) for path in job.input.scores}
    found = forced_table(sums, settings["models"], settings["resamples"], settings["seed"])
    windows = by_window(
        {
            model: {(truth, name): own.by_column[name] for truth, own in of_model.items() for name in DIVIDED}
            for model, of_model in sums.items()
        }
    )
    table = with_added(found, OF_FORCED, windows)
    write_record(job.output, table, forced_page(table, settings["title"]))
    if any(model["kind"] == "family" for model in settings["models"]):
        write_figure(draw(read_record(job.output.csv)), [job.output.png, job.output.pdf, job.output.svg])


def forced_table(
    sums: Mapping[str, Mapping[str, Sums]], models: Sequence[Mapping[str, Any]], resamples: int, seed: int
) -> pd.DataFrame:
    """Return the record of all statistics of the measure; `sums` are by model, then by truth."""
    return record(
        {**facts(model), "truth": truth, **row}
        for model in models
        for truth, own in sums[model["model"]].items()
        for row in own.rows(resamples, seed)
    )


def by_window(sums: Mapping[str, Mapping[tuple[str, str], WindowSums]]) -> pd.DataFrame:
    """Return means by window, from sums of each model by truth and measure."""
    return pd.concat(
        window_means(own).assign(model=model, truth=truth, measure=measure)
        for model, of_model in sums.items()
        for (truth, measure), own in of_model.items()
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
    gap = f"{chosen(table, measure='gap').value.max():.1g}"
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
