"""From what snapshots are like to the table along training: all steps, and where each model ends."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.catalogue import AGAINST_TRUTHS, METRICS
from oversmoothing.layout import number
from oversmoothing.page import Cell, Page, Section, Value, directions, labelled, model_cells

UNITS = {"loss": "nats per byte", "singular_entropy": "nats", "effective_rank": "singular values"}
UNITS |= dict.fromkeys(["anisotropy", "head_input_anisotropy"], "cosine")
UNITS |= {"outlier_dimensions": "dimensions", "largest_dimension": "share of squared length"}
UNITS |= {name: METRICS[name].unit for name in AGAINST_TRUTHS}


def along_training_table(measured: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """What every snapshot of every model is like, one under the other.

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
    """A model's measures by step, one column each, in the order of steps; a layer's as ``anisotropy 1``.

    Those of oversmoothing are against `truth`.
    """
    own = table[(table.model == model) & (table.truth.isna() | (table.truth == truth))]
    column = own.measure + own.layer.map(lambda layer: "" if pd.isna(layer) else f" {int(layer)}").astype(str)
    return own.assign(column=column).pivot(index="step", columns="column", values="value").sort_index()


def last_layer(table: pd.DataFrame) -> int:
    """The number of blocks."""
    return int(table.layer.max())


def at_loss(losses: Sequence[float], values: Sequence[float], loss: float) -> float:
    """The value of a measure where a training first comes down to a loss, on the straight line between two steps.

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
    """The lowest loss that every model reaches, in nats per byte."""
    return float(table[table.measure == "loss"].groupby("model").value.min().max())


def along_training_page(table: pd.DataFrame, title: str) -> Page:
    """A section of loss, head and hidden states and one per truth; a row per model, at the last step that it kept."""
    last = last_layer(table)
    labels = {"loss": "loss ↓", "singular_entropy": "singular entropy", "effective_rank": "effective rank of W"}
    labels |= {f"anisotropy {layer}": f"anisotropy, layer {layer}" for layer in range(1, last + 1)}
    labels["head_input_anisotropy"] = "anisotropy, what enters the head"
    labels[f"outlier_dimensions {last}"] = "outlier dimensions, last layer"
    labels[f"largest_dimension {last}"] = "largest dimension, last layer"
    sections = [Section("Loss, head and hidden states", _rows(table, None, labels))]
    labels = {"loss": "loss ↓"}
    labels |= {name: labelled(METRICS[name].label, METRICS[name].better) for name in AGAINST_TRUTHS}
    for truth in table.truth.dropna().unique():
        sections.append(Section(f"Oversmoothing against `{truth}`", _rows(table, truth, labels)))
    return Page(title, sections, _legend(table))


def _rows(table: pd.DataFrame, truth: str | None, labels: Mapping[str, str]) -> list[dict[str, Cell]]:
    loss = common_loss(table)
    rows = []
    for model in table.model.unique():
        along = steps(table, model, truth)
        row = model_cells(table[table.model == model].iloc[0].to_dict(), table.seed.nunique() > 1)
        row["step"] = Value(along.index[-1], decimals=0)
        for name, label in labels.items():
            decimals = 0 if name.startswith("outlier_dimensions") else None
            row[label] = Value(along[name].iloc[-1] if name in along else None, decimals=decimals)
        if truth:
            tto = at_loss(along["loss"].to_numpy(), along["tto"].to_numpy(), loss)
            row[f"TTO at a loss of {number(loss)}"] = Value(tto)
        rows.append(row)
    return rows


def _legend(table: pd.DataFrame) -> list[str]:
    count = int(table.n[table.measure == "loss"].max())
    return [
        "At the last step that each training kept; the CSV has all steps",
        f"Over {count:,} evaluation bytes, under pure decoding. Loss: nats per byte",
        "Singular entropy: how far the singular values of the head W are from equal, in nats; 0 where they are",
        "Anisotropy: the mean cosine of all pairs of hidden states, after each block and where they enter the head; "
        "1 where all point the same way",
        "Outlier dimensions: those of the last block's output whose root mean square lies three standard deviations "
        "above the mean over dimensions; largest dimension: its share of the squared length",
        f"TTO at a loss of {number(common_loss(table))}: where the training first comes down to the lowest loss that "
        "every model reaches, on a straight line between two kept steps",
        directions(METRICS[name].better for name in AGAINST_TRUTHS),
    ]
