"""Table of the W-error of n-gram matrices: what a head of a given dimension must lose of a language."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, Value
from oversmoothing.tables.record import record
from oversmoothing.tables.story import legend

THRESHOLD = 1000  # dimensions below which Godey et al. (2024) see models fall behind
TOKENS = {"byte": "bytes", "byte pair": "byte pairs"}
MATRIX = ("text", "token", "context")
SIZES = {  # measures of a matrix, with their units
    "v": "tokens",
    "tokens": "tokens",
    "contexts": "contexts",
    "contexts_seen": "contexts",
    "effective_rank": "dimensions",
    "effective_rank_shuffled": "dimensions",
}
ERRORS = {  # columns of the spectra, by measure and column of the record
    "w_error": {"value": "w_error"},
    "shuffled": {"value": "shuffled"},
    "without_noise": {"value": "without_noise", "low": "without_noise_low", "high": "without_noise_high"},
}
UNIT = "share of the matrix"


def dimensionality_table(sizes: pd.DataFrame, spectra: pd.DataFrame, ranks: Sequence[int]) -> pd.DataFrame:
    """W-error at the family's ranks and 1,000: of a text, of the shuffled text, and without the noise of sampling.

    `sizes` and `spectra` are as `measure` writes them, with a column ``text``. The record has the measures `SIZES` of
    the matrix of each text, kind of token and length of context, and the measures `ERRORS` of its approximation by so
    many ``dimensions``. Errors are 0 from v dimensions on, and missing where fewer singular values were computed; there
    is no ``without_noise`` where too few contexts recur.
    """
    errors = spectra.set_index([*MATRIX, "d"])
    rows = []
    for size in sizes.to_dict("records"):
        matrix = {key: size[key] for key in MATRIX}
        known = {name: unit for name, unit in SIZES.items() if pd.notna(size[name])}
        rows += [{**matrix, "measure": name, "value": size[name], "unit": unit} for name, unit in known.items()]
        for d in sorted({*ranks, THRESHOLD}):
            place = (*matrix.values(), d)
            for measure, columns in ERRORS.items():
                if d >= size["v"]:
                    numbers = dict.fromkeys(columns, 0.0)
                else:
                    numbers = {name: errors[column].get(place) for name, column in columns.items()}
                if measure == "w_error" or pd.notna(numbers["value"]):
                    described = {"measure": measure, "unit": UNIT, "better": "lower"}
                    rows.append({**matrix, "dimensions": d, **numbers, **described})
    return record(rows)


def by_dimensions(table: pd.DataFrame) -> pd.DataFrame:
    """One row per matrix and number of dimensions, with a column for each of its measures (and ends of intervals)."""
    keys, whole, errors = [*MATRIX, "dimensions"], table[table.dimensions.isna()], table[table.dimensions.notna()]
    sizes = whole.pivot(index=list(MATRIX), columns="measure", values="value").reindex(columns=list(SIZES))
    wide = errors.pivot(index=keys, columns="measure", values="value").reindex(columns=list(ERRORS)).reset_index()
    ends = errors[errors.measure == "without_noise"][[*keys, "low", "high"]]
    order = errors[keys].drop_duplicates()
    return order.merge(wide, on=keys).merge(ends, on=keys, how="left").merge(sizes.reset_index(), on=list(MATRIX))


def dimensionality_page(table: pd.DataFrame, title: str, seen: int) -> Page:
    """Page with a section per kind of token and three rows per text and length of context."""
    wide = by_dimensions(table)
    sections = [
        Section(f"Of {TOKENS[str(token)]}, of which there are {part.v.iloc[0]:,.0f}", _rows(part))
        for token, part in wide.groupby("token", sort=False)
    ]
    sizes = {"largest": int(wide.v.max()), "threshold": THRESHOLD}
    return Page(title, sections, legend(__file__, "language_dimensionality", seen=seen, **sizes))


def _rows(part: pd.DataFrame) -> list[dict[str, Cell]]:
    rows = []
    for (text, context), at_ranks in part.groupby(["text", "context"], sort=False):
        first = at_ranks.iloc[0]
        for matrix, contexts, rank in (
            ("as counted", first.contexts, first.effective_rank),
            ("shuffled", first.contexts, first.effective_rank_shuffled),
            ("without noise", first.contexts_seen, None),
        ):
            row: dict[str, Cell] = {
                "text": str(text),
                "context": str(context),
                "matrix": matrix,
                "tokens": Value(first.tokens, decimals=0),
                "contexts": Value(contexts, decimals=0),
                "effective rank": Value(rank, decimals=1),
            }
            row |= {f"{at['dimensions']:,} ↓": _cell(at, matrix) for at in at_ranks.to_dict("records")}
            rows.append(row)
    return rows


def _cell(at: dict[Any, Any], matrix: str) -> Value:
    value = at[{"as counted": "w_error"}.get(matrix, matrix.replace(" ", "_"))]
    if matrix != "without noise" or at["dimensions"] >= at["v"]:
        return Value(value)
    return Value(value, None, at["low"], at["high"], decimals=3)
