"""The record: the one schema of all tables of numbers, and reading it.

A row is one number, named by its keys: what was measured of which model, and under which circumstances. Tables are
made with `record`, written with `formats.write_record` and read with `read_record`.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.numerics.statistics import Summary, student_interval
from oversmoothing.store.layout import read_csv
from oversmoothing.store.parquet import read_table

TEXT, WHOLE, NUMBER = "str", "Int64", "float64"
NAMES = {TEXT: "text", WHOLE: "whole number", NUMBER: "number"}


MEASURE = (
    "what was measured: a metric, such as `tto`, or what the page of the table explains; ending in `_median` or "
    "`_resampled` the median of a measure, or its mean over draws of windows"
)


class Column(NamedTuple):
    """A column of the record: its type in pandas, what it holds, and whether every table has it."""

    type: str
    meaning: str
    always: bool = False


FACTS = {
    "kind": Column(TEXT, "what the model is, as in [Models](#models); `human` of human texts", True),
    "rank": Column(WHOLE, "of what enters its LM head", True),
    "seed": Column(WHOLE, "of its training", True),
    "arm": Column(TEXT, "the model's name without the seed", True),
}
KEYS = {
    "truth": Column(TEXT, "the model that it is measured against", True),
    "decoding": Column(TEXT, "how it is decoded", True),
    "prompt": Column(TEXT, "name of the prompt"),
    "revision": Column(TEXT, "of a model from the hub"),
    "learning_rate": Column(NUMBER, "peak of the training's"),
    "step": Column(WHOLE, "number of training steps taken"),
    "weights": Column(WHOLE, "in the matrices of the blocks of models of its size"),
    "bytes": Column(WHOLE, "of text that it read in training"),
    "part": Column(
        TEXT, "what of a model learned on: `head`, `last_block`, `all`; `scratch`: a new model, from the start"
    ),
    "layer": Column(WHOLE, "block, counted from 1"),
    "representation": Column(TEXT, "matrix whose singular values are meant"),
    "condition": Column(TEXT, "which inputs the head is given: `free`, any; `reachable`, those behind its LayerNorm"),
    "approximation": Column(WHOLE, "rank of the head that BAT was given"),
    "text": Column(TEXT, "split of the corpus"),
    "token": Column(TEXT, "what the text is cut into"),
    "context": Column(WHOLE, "tokens before the one that follows"),
    "dimensions": Column(WHOLE, "rank of the approximation of a matrix"),
    "vocabulary": Column(WHOLE, "number of tokens that a head predicts"),
    "class": Column(WHOLE, "byte or token"),
    "law": Column(TEXT, "the law that its text was drawn from"),
    "sequences": Column(WHOLE, "of the text that it learned"),
    "temperature": Column(NUMBER, "of decoding, beside a method that cuts"),
    "order": Column(TEXT, "`temperature first`, or `cut first` of a method that cuts before it"),
    "leak": Column(TEXT, "what an area is over: none, TTO; `impossible`, the mass on impossible tokens"),
    "less": Column(
        TEXT,
        "what `value` is a difference from, paired by seed: `rank 8`, a kind (`family`), a truth, `equal loss`, `cut`, "
        "`full rank`",
    ),
    "quantile": Column(NUMBER, "share of the positions with lower values, of a quantile of `measure`; none of a mean"),
    "measure": Column(TEXT, MEASURE, True),
}
VALUES = {
    "value": Column(NUMBER, "the number, in `unit`; of positions or samples, their mean", True),
    "sd": Column(NUMBER, "standard deviation over them", True),
    "n": Column(WHOLE, "how many there are", True),
    "low": Column(NUMBER, "lower end of the 95 % interval of the value; over positions it leaves out the seed", True),
    "high": Column(NUMBER, "its upper end", True),
    "low_crossed": Column(NUMBER, "lower end of the 95 % interval over both, seeds and windows of the text"),
    "high_crossed": Column(NUMBER, "its upper end"),
    "p": Column(
        NUMBER, "of a two-sided test that a difference is 0, adjusted for those that are tested together (Holm)"
    ),
    "unit": Column(TEXT, "of the value and of what stands beside it", True),
    "better": Column(TEXT, "`lower`, `higher`, or `human`: the closer to human texts", True),
    "bracket": Column(NUMBER, "mean width of the proved brackets of which the value is the middle"),
}
PUBLISHED = {
    "published": Column(NUMBER, "the value printed in the thesis (`resources/published/`)", True),
    "published_sd": Column(NUMBER, "its standard deviation"),
    "published_low": Column(NUMBER, "lower end of its interval"),
    "published_high": Column(NUMBER, "upper end of its interval"),
    "published_model": Column(TEXT, "the printed name of its model"),
    "published_truth": Column(TEXT, "the printed name of its truth"),
    "published_differs": Column(TEXT, "settings in which ours differs from it, separated by spaces"),
}
SCHEMA = {
    "table": Column(TEXT, "name of the table", True),
    "model": Column(TEXT, "name of the model; none where a row is of no single one", True),
    **FACTS,
    **KEYS,
    **VALUES,
    **PUBLISHED,
    "note": Column(TEXT, "what a number cannot say: why it is missing, or which classes it counts"),
}
TYPES = {name: column.type for name, column in SCHEMA.items()}


def record(rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the frame with all columns of `SCHEMA`, in order; raise a `ValueError` of a column it does not know."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    if unknown := set(frame) - set(SCHEMA):
        raise ValueError(f"not in the schema of the record: {', '.join(sorted(unknown))}")
    return frame.reindex(columns=list(SCHEMA)).astype(TYPES).reset_index(drop=True)


def facts(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns that every row of a model has; None for what the plan does not know of it."""
    return {name: model.get(name) for name in ("model", *FACTS)}


def chosen(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Return rows with the given values in columns; None where a column has none."""
    return table[matches(table, **where)]


def matches(table: pd.DataFrame, **where: Any) -> np.ndarray:
    """Return whether each row has the given values in columns, bool (n,); None where a column has none."""
    matched = np.ones(len(table), bool)
    for column, value in where.items():
        alike = table[column].isna() if value is None else table[column] == value
        matched &= alike.to_numpy(bool, na_value=False)
    return matched


def numbers(summary: Summary) -> dict[str, Any]:
    """Return columns of a row that a summary fills."""
    return {"value": summary.mean, **{name: getattr(summary, name) for name in ("sd", "n", "low", "high")}}


def over_seeds(values: Iterable[float]) -> dict[str, Any]:
    """Return columns of a row for numbers of several seeds: their mean, sd, count and 95 % interval by Student's t."""
    own = np.asarray([float(value) for value in values])
    mean, low, high = student_interval(own.tolist())
    sd = float(own.std(ddof=1)) if len(own) > 1 else math.nan
    return {"value": mean, "low": low, "high": high, "sd": sd, "n": len(own)}


def read_record(path: str | Path) -> pd.DataFrame:
    """Read a table as `record` gives it; a `UserError` names a file that is no record."""
    frame = read_csv(path, dtype=TYPES, keep_default_na=False, na_values=[""])
    if "table" not in frame:
        raise UserError(f"{path}: no table of numbers, or one of version 0.2 (it has no column `table`): make it again")
    if gone := sorted(set(frame) - set(SCHEMA)):
        raise UserError(f"{path}: its column `{gone[0]}` has gone with its study; read it with version 0.5")
    return record(frame)


def is_record(path: str | Path) -> bool:
    """Return whether a table is a record, and not one of verdicts or of texts, or of a study that has gone."""
    return "table" in (columns := set(read_csv(path, nrows=0))) and columns <= set(SCHEMA)


def read_tables(paths: Iterable[str | Path]) -> dict[str, pd.DataFrame]:
    """Read tables by name, those of texts and verdicts too, which are no records, and Parquet files."""
    return {Path(path).stem: _read(Path(path)) for path in paths}


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return read_table(path).to_pandas()
    return read_record(path) if is_record(path) else read_csv(path)


def written(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return columns that the CSV of a record has: those that every table has, and those with a value."""
    held = [column for column in SCHEMA if SCHEMA[column].always or table[column].notna().any()]
    return table[held].assign(table=name)


def documentation() -> str:
    """Return the Markdown table of the columns."""
    rows = [
        f"| `{name}`{'' if column.always else ' *'} | {NAMES[column.type]} | {column.meaning} |"
        for name, column in SCHEMA.items()
    ]
    return "\n".join(["| column | type | meaning |", "|:---|:---|:---|", *rows])
