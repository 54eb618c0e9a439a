"""Table of the premise of BAT: means of what `measure` writes, at the model beside q*."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import WindowSums, summarise
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import IN_BRACKETS, MODEL, Page, Section, pivot
from oversmoothing.tables.record import chosen, facts, numbers, record
from oversmoothing.tables.story import legend
from studies.bat_on_trial.premise import AT_NEAREST, PREMISE, TOP, UNLIKELY

TITLE = "What BAT assumes of the truth, and what it rejects, {by}."
KEYS = ("window", "position", "truth")
# Whether the truth exceeds q e^delta at any token of the position, and at any of its nucleus.
EXCEEDED = {"exceeded": "exceeding", "exceeded_nucleus": "exceeding_nucleus"}
BAT, CUT, FREE = "bat", "cut", "free"  # decodings, and the condition of q*, whose input is free
UNITS = dict.fromkeys(EXCEEDED, "share of positions") | dict.fromkeys(("tv", "moment", "rejected_mass"), "probability")
LOST = {
    "rejected of the nucleus": "rejected_nucleus",
    "truth's mass on these": "rejected_mass",
    "unlikely ones accepted": "accepted_unlikely",
}


def _of(measures: Mapping[str, str], decoding: str | None = None, condition: str | None = None) -> dict[str, Any]:
    keys = {"decoding": decoding, "condition": condition, "less": None}
    return {label: {"measure": measure, **keys} for label, measure in measures.items()}


SECTIONS = {
    "How far the premise is from true": {
        **_of({"TV to the truth": "tv", "error of the moments": "moment"}),
        **_of({"model: bound broken": "exceeded", "model: in the nucleus": "exceeded_nucleus"}),
        **_of({"q*: bound broken": "exceeded", "q*: in the nucleus": "exceeded_nucleus"}, None, FREE),
    },
    "What BAT does to the model": _of({"rejected": "rejected"} | LOST, BAT),
    "What keeping as many tokens, the most probable ones, does to it": {
        **_of(LOST, CUT),
        "BAT's mass less this": {"measure": "rejected_mass", "condition": None, "less": CUT},
    },
    "What BAT does to q*": _of({"rejected": "rejected"} | LOST, BAT, FREE) | {"decided otherwise": "changed"},
}


def main(job: Job) -> None:
    """Read the measurements of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    table = premise_table(job.input.scores, **job.params.settings)
    write_record(job.output, table, premise_page(table, TITLE))


def premise_table(
    paths: Sequence[str | Path], models: Sequence[Mapping[str, Any]], resamples: int, seed: int
) -> pd.DataFrame:
    """Means of the columns of files, of `EXCEEDED`, and of what BAT rejects less the cut; intervals over windows."""
    rows = []
    for model, path in zip(models, paths, strict=True):
        positions = read_table(path, PREMISE.names).to_pandas()
        for truth, against in positions.groupby("truth", sort=False, observed=True):
            for keys, values in _measures(against):
                found = numbers(summarise(WindowSums.of(against.window, values), resamples, seed))
                rows.append({**facts(model), "truth": truth, **keys, **found})
    table = record(rows)
    return table.assign(unit=table.measure.map(UNITS).fillna("tokens"))


def _measures(positions: pd.DataFrame) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Yield keys of the record, and values (n,), of every measure."""
    values = {name: positions[name].to_numpy(np.float64) for name in PREMISE.names if name not in KEYS}
    yield from ((_keys(name), own) for name, own in values.items())
    for place in ("", AT_NEAREST):
        for share, count in EXCEEDED.items():
            yield _keys(place + share), (values[place + count] > 0).astype(np.float64)
        by_cut = values[f"{place}{TOP}rejected_mass"]
        yield _keys(f"{place}rejected_mass") | {"less": CUT}, values[f"{place}rejected_mass"] - by_cut


def _keys(column: str) -> dict[str, Any]:
    """Keys of the record that the name of a column of the files, or of a share, stands for."""
    name = column.removeprefix(AT_NEAREST)
    measure = name.removeprefix(TOP)
    of_sets = measure in (*LOST.values(), "rejected", "undecided")
    decoding = CUT if measure != name else BAT if of_sets else None
    return {"measure": measure, "decoding": decoding, "condition": None if name == column else FREE}


def premise_page(table: pd.DataFrame, title: str) -> Page:
    """Page with `SECTIONS` for each truth: the premise, and the sets of the model, of a plain cut and of q*."""
    sections = []
    for truth, part in table.groupby("truth", sort=False):
        against = f", against `{truth}`" if table.truth.nunique() > 1 else ""
        for heading, columns in SECTIONS.items():
            sections.append(Section(heading + against, pivot(part, [MODEL], columns)))
    counts = {name: f"{chosen(table, measure=name).value.mean():.1f}" for name in ("nucleus", "unlikely")}
    open_ones = chosen(table, measure="undecided", condition=None).value.max()
    counts["undecided"] = f"{open_ones:.3g}" if open_ones > 0 else ""
    words = legend(__file__, "bat_premise", n=int(table.n.max()), one_in=round(1 / UNLIKELY), **counts)
    return Page(title, sections, words, IN_BRACKETS)


if __name__ == "__main__":
    run(main)
