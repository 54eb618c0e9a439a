"""Table of the premise of BAT: means of what `measure` writes, at the model beside q*."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import WindowSums, summarise
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import IN_BRACKETS, Page, Section, by_model, measure_cells
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend
from studies.bat_on_trial.premise import AT_NEAREST, PREMISE, TOP, UNLIKELY

TITLE = "What BAT assumes of the truth, and what it rejects, {by}."
KEYS = ("window", "position", "truth")
# Whether the truth exceeds q e^delta at any token of the position, and at any of its nucleus.
EXCEEDED = {"exceeded": "exceeding", "exceeded_nucleus": "exceeding_nucleus"}
MORE_LOST = "more_lost"  # mass of the truth that BAT rejects in its nucleus, less what the cut of the same size rejects
PROBABILITIES = ("tv", "moment")
LOST = {
    "rejected_nucleus": "rejected of the nucleus",
    "rejected_mass": "truth's mass on these",
    "accepted_unlikely": "unlikely ones accepted",
}
SECTIONS = {
    "How far the premise is from true": {
        "tv": "TV to the truth",
        "moment": "error of the moments",
        "exceeded": "model: bound broken",
        "exceeded_nucleus": "model: in the nucleus",
        AT_NEAREST + "exceeded": "q*: bound broken",
        AT_NEAREST + "exceeded_nucleus": "q*: in the nucleus",
    },
    "What BAT does to the model": {"rejected": "rejected", **LOST},
    "What keeping as many tokens, the most probable ones, does to it": {
        **{TOP + measure: label for measure, label in LOST.items()},
        MORE_LOST: "BAT's mass less this",
    },
    "What BAT does to q*": {
        **{AT_NEAREST + measure: label for measure, label in {"rejected": "rejected", **LOST}.items()},
        "changed": "decided otherwise",
    },
}


def main(job: Job) -> None:
    """Read the measurements of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    table = premise_table(job.input.scores, settings["models"], settings["resamples"], settings["seed"])
    write_record(job.output, table, premise_page(table, TITLE))


def premise_table(
    paths: Sequence[str | Path], models: Sequence[Mapping[str, Any]], resamples: int, seed: int
) -> pd.DataFrame:
    """Means of every measure of the files of some models, with bootstrap intervals over windows.

    Measures are the columns of the files; ``exceeded`` and ``exceeded_nucleus``, the shares of positions with
    ``exceeding`` and ``exceeding_nucleus`` above 0; ``more_lost``, ``rejected_mass`` less ``top_rejected_mass``; these
    three also at q*, with ``nearest_`` before their names.
    """
    rows = []
    for model, path in zip(models, paths, strict=True):
        positions = read_table(path, PREMISE.names).to_pandas()
        for truth, against in positions.groupby("truth", sort=False, observed=True):
            for name, values in _measures(against).items():
                sums = WindowSums()
                sums.add(against.window.to_numpy(), values)
                row = {**facts(model), "truth": truth, "measure": name, "unit": _unit(name)}
                rows.append(row | numbers(summarise(sums, resamples, seed)))
    return record(rows)


def _unit(measure: str) -> str:
    if measure.removeprefix(AT_NEAREST) in EXCEEDED:
        return "share of positions"
    return "probability" if measure in PROBABILITIES or measure.endswith(("_mass", MORE_LOST)) else "tokens"


def _measures(positions: pd.DataFrame) -> dict[str, np.ndarray]:
    """Values (n,) of every measure, by the name of its column."""
    values = {name: positions[name].to_numpy(np.float64) for name in PREMISE.names if name not in KEYS}
    for place in ("", AT_NEAREST):
        values |= {place + share: (values[place + count] > 0).astype(np.float64) for share, count in EXCEEDED.items()}
        values[place + MORE_LOST] = values[f"{place}rejected_mass"] - values[f"{place}{TOP}rejected_mass"]
    return values


def premise_page(table: pd.DataFrame, title: str) -> Page:
    """Page with `SECTIONS` for each truth: the premise, and the sets of the model, of a plain cut and of q*."""
    sections = []
    for truth, part in table.groupby("truth", sort=False):
        against = f", against `{truth}`" if table.truth.nunique() > 1 else ""
        for heading, columns in SECTIONS.items():
            rows = [cells | measure_cells(of_model, columns) for cells, of_model in by_model(part)]
            sections.append(Section(heading + against, rows))
    return Page(title, sections, _words(table), IN_BRACKETS)


def _words(table: pd.DataFrame) -> list[str]:
    over_models = table.groupby("measure").value
    counts = {name: f"{mean:.1f}" for name, mean in over_models.mean().items() if name in ("nucleus", "unlikely")}
    open_ones = over_models.max()["undecided"]
    counts["undecided"] = f"{open_ones:.3g}" if open_ones > 0 else ""
    return legend(__file__, "bat_premise", n=int(table.n.max()), one_in=round(1 / UNLIKELY), **counts)


if __name__ == "__main__":
    run(main)
