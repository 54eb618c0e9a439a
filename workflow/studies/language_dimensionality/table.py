"""Table of the W-error of n-gram matrices: what a head of a given dimension must lose of a language; and the figure."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Cell, Page, Section, pivot
from oversmoothing.tables.record import record
from oversmoothing.tables.story import legend
from studies.language_dimensionality.figure import draw

TITLE = "How many dimensions the language has: W-error of n-gram matrices, by dimensions of the head."
THRESHOLD = 1000  # dimensions below which Godey et al. (2024) see models fall behind
TOKENS = {"byte": "bytes", "byte pair": "byte pairs"}
MATRIX = ("text", "token", "context")
SIZES = {  # measures of a matrix, with their units
    "v": "tokens",
    "tokens": "tokens",
    "contexts": "contexts",
    "effective_rank": "dimensions",
    "effective_rank_shuffled": "dimensions",
}
MATRICES = {  # what the measures of each are of
    "as counted": {"effective_rank": "effective rank", "w_error": "error"},
    "shuffled": {"effective_rank_shuffled": "effective rank", "shuffled": "error"},
}
UNIT = "share of the matrix"


def main(job: Job) -> None:
    """Read sizes and spectra of every text; write the table and the figure in all formats."""
    settings = job.params.settings
    sizes = pd.concat(_by_text(settings["texts"], job.input.sizes).values())
    spectra = _by_text(settings["texts"], job.input.spectra)
    table = dimensionality_table(sizes, pd.concat(spectra.values()), settings["ranks"])
    write_record(job.output, table, dimensionality_page(table, TITLE))
    write_figure(draw(spectra, settings["ranks"]), [job.output.png, job.output.pdf, job.output.svg])


def _by_text(texts: Sequence[str], paths: Sequence[str]) -> dict[str, pd.DataFrame]:
    return {text: read_table(path).to_pandas().assign(text=text) for text, path in zip(texts, paths, strict=True)}


def dimensionality_table(sizes: pd.DataFrame, spectra: pd.DataFrame, ranks: Sequence[int]) -> pd.DataFrame:
    """Return the w-error at the family's ranks and 1,000: of a text, and of the shuffled text.

    `sizes` and `spectra` are as `measure` writes them, with a column ``text``. Errors are 0 from v dimensions on, and
    missing where fewer singular values were computed.
    """
    errors = spectra.set_index([*MATRIX, "d"])
    rows = []
    for size in sizes.to_dict("records"):
        matrix = {key: size[key] for key in MATRIX}
        known = {name: unit for name, unit in SIZES.items() if pd.notna(size[name])}
        rows += [{**matrix, "measure": name, "value": size[name], "unit": unit} for name, unit in known.items()]
        for d in sorted({*ranks, THRESHOLD}):
            place = (*matrix.values(), d)
            for measure in ("w_error", "shuffled"):
                value = 0.0 if d >= size["v"] else errors[measure].get(place)
                if measure == "w_error" or pd.notna(value):
                    described = {"measure": measure, "value": value, "unit": UNIT, "better": "lower"}
                    rows.append({**matrix, "dimensions": d, **described})
    return record(rows)


def dimensionality_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section per kind of token and two rows per text and length of context."""
    v = table[table.measure == "v"].drop_duplicates("token").set_index("token").value
    sections = [
        Section(f"Of {TOKENS[str(token)]}, of which there are {v[token]:,.0f}", _rows(part))
        for token, part in table.groupby("token", sort=False)
    ]
    sizes = {"largest": int(v.max()), "threshold": THRESHOLD}
    return Page(title, sections, legend(__file__, "language_dimensionality", **sizes))


def _rows(part: pd.DataFrame) -> list[dict[str, Cell]]:
    both = []
    for matrix, names in MATRICES.items():
        own = part[part.measure.isin(["tokens", "contexts", *names])]
        both.append(own.replace({"measure": names}).assign(matrix=matrix))
    columns: dict[str, str | dict[str, Any]] = {name: name for name in ("tokens", "contexts", "effective rank")}
    for d in sorted(part.dimensions.dropna().unique()):
        columns[f"{d:,} ↓"] = {"measure": "error", "dimensions": d}
    decimals = {"tokens": 0, "contexts": 0, "effective rank": 1}
    return pivot(pd.concat(both).sort_index(kind="stable"), ["text", "context", "matrix"], columns, decimals)


if __name__ == "__main__":
    run(main)
