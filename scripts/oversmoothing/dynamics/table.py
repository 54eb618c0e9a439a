"""From what snapshots are like to the table along training: all steps, and where each model ends."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.layout import latex_text, model_cells, number, write_latex_tables, write_page

OVERSMOOTHING = {"tto": "TTO", "nsmd": "NSMD", "tv": "TV", "kl": "KL (nats)"}
UNITS = {"loss": "nats per byte", "singular_entropy": "nats", "effective_rank": "singular values"}
UNITS |= dict.fromkeys(["anisotropy", "head_input_anisotropy"], "cosine")
UNITS |= {"outlier_dimensions": "dimensions", "largest_dimension": "share of squared length"}
UNITS |= {"tto": "probability", "nsmd": "probability", "tv": "probability", "kl": "nats"}


def along_training_table(measured: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Set what every snapshot of every model is like under one another.

    Parameters
    ----------
    measured : mapping
        From model to its measures (see `dynamics.measure.MEASURES`).
    models : sequence of mappings
        ``model``, ``rank``, ``seed`` of each, in the order of the rows.

    Returns
    -------
    DataFrame
        ``model``, ``rank``, ``seed``, ``step``, ``measure``, ``unit``, ``layer``, ``truth``, ``value``, ``n``.
    """
    parts = [measured[model["model"]].assign(**model) for model in models]
    table = pd.concat(parts, ignore_index=True)
    table["unit"] = table.measure.map(UNITS)
    table = table[["model", "rank", "seed", "step", "measure", "unit", "layer", "truth", "value", "n"]]
    return table.astype(dict.fromkeys(["rank", "seed", "step", "layer", "n"], "Int64"))


def steps(table: pd.DataFrame, model: str, truth: str | None = None) -> pd.DataFrame:
    """Give a model's measures by step, one column each, in the order of steps; a layer's as ``anisotropy 1``.

    Those of oversmoothing are against `truth`.
    """
    own = table[(table.model == model) & (table.truth.isna() | (table.truth == truth))]
    column = own.measure + own.layer.map(lambda layer: "" if pd.isna(layer) else f" {int(layer)}").astype(str)
    return own.assign(column=column).pivot(index="step", columns="column", values="value").sort_index()


def last_layer(table: pd.DataFrame) -> int:
    """Return the number of blocks."""
    return int(table.layer.max())


def at_loss(losses: Sequence[float], values: Sequence[float], loss: float) -> float:
    """Return a measure where a training first comes down to a loss, on the straight line between two steps.

    Parameters
    ----------
    losses, values : sequences of float
        By step.
    loss : float

    Returns
    -------
    float
        NaN where the training never comes down to it, or begins below it.
    """
    below = np.flatnonzero(np.asarray(losses) <= loss)
    if not below.size or (below[0] == 0 and losses[0] < loss):
        return float("nan")
    after = int(below[0])
    before = max(after - 1, 0)
    return float(np.interp(loss, [losses[after], losses[before]], [values[after], values[before]]))


def common_loss(table: pd.DataFrame) -> float:
    """Return the lowest loss that every model reaches, in nats per byte."""
    return float(table[table.measure == "loss"].groupby("model").value.min().max())


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: a row per model, at the last step that it kept.

    Parameters
    ----------
    table : DataFrame
        As `along_training_table` gives it.
    paths : paths
        Each .md or .html.
    title : str
    """
    write_page(paths, title, _sections(table, "-"), _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as LaTeX tables."""
    tables = []
    for heading, cells in _sections(table, "--"):
        cells["rank"] = cells["rank"].map(latex_text)
        tables.append((cells, f"{title} {heading.replace('`', '')}. {_legend(table)}"))
    write_latex_tables(path, tables)


def _sections(table: pd.DataFrame, none: str) -> list[tuple[str, pd.DataFrame]]:
    layers = [f"anisotropy {layer}" for layer in range(1, last_layer(table) + 1)]
    labels = {"loss": "loss ↓", "singular_entropy": "singular entropy", "effective_rank": "effective rank of W"}
    labels |= {layer: f"anisotropy, layer {layer.split()[1]}" for layer in layers}
    labels["head_input_anisotropy"] = "anisotropy, what enters the head"
    labels[f"outlier_dimensions {last_layer(table)}"] = "outlier dimensions, last layer"
    labels[f"largest_dimension {last_layer(table)}"] = "largest dimension, last layer"
    sections = [("Loss, head and hidden states", _wide(table, None, labels, none))]
    for truth in table.truth.dropna().unique():
        labels = {"loss": "loss ↓"} | {name: f"{label} ↓" for name, label in OVERSMOOTHING.items()}
        sections.append((f"Oversmoothing against `{truth}`", _wide(table, truth, labels, none)))
    return sections


def _wide(table: pd.DataFrame, truth: str | None, labels: Mapping[str, str], none: str) -> pd.DataFrame:
    loss = common_loss(table)
    rows = []
    for model in table.model.unique():
        along = steps(table, model, truth)
        row = model_cells(table[table.model == model].iloc[0].to_dict(), table.seed.nunique() > 1)
        row["step"] = str(along.index[-1])
        for name, label in labels.items():
            known = name in along and pd.notna(along[name].iloc[-1])
            counted = name.startswith("outlier_dimensions")
            row[label] = (f"{along[name].iloc[-1]:.0f}" if counted else number(along[name].iloc[-1])) if known else none
        if truth:
            value = at_loss(along["loss"].to_numpy(), along["tto"].to_numpy(), loss)
            row[f"TTO at a loss of {number(loss)}"] = none if np.isnan(value) else number(value)
        rows.append(row)
    return pd.DataFrame(rows)


def _legend(table: pd.DataFrame) -> str:
    count = int(table.n[table.measure == "loss"].max())
    return (
        f"At the last step that each training kept; the CSV has all steps. Over {count:,} evaluation bytes, under pure "
        "decoding. Loss: nats per byte. Singular entropy: how far the singular values of the head W are from equal, in "
        "nats; 0 where they are. Anisotropy: the mean cosine of all pairs of hidden states, after each block and "
        "where they enter the head; 1 where all point the same way. Outlier dimensions: those of the last block's "
        "output whose root mean square lies three standard deviations above the mean over dimensions; largest "
        f"dimension: its share of the squared length. TTO at a loss of {number(common_loss(table))}: "
        "where the training first comes down to the lowest loss that every model reaches, on a straight line between "
        "two kept steps. ↓ lower is better."
    )
