"""Table along training: measurements of every snapshot, and of the last one of each model."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.store.layout import number
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled, model_cells
from oversmoothing.tables.record import facts, record

UNITS = {"loss": "nats per {unit}", "singular_entropy": "nats", "effective_rank": "singular values"}
UNITS |= dict.fromkeys(["anisotropy", "head_input_anisotropy"], "cosine")
UNITS |= {"outlier_dimensions": "dimensions", "largest_dimension": "share of squared length"}
UNITS |= {"gradient_share": "share", "gradient_cosine": "cosine", "gradient_rank": "singular values"}
UNITS |= {"tbat": METRICS["tbat"].unit}
UNITS |= {name: METRICS[name].unit for name in AGAINST_TRUTHS}
DIVIDED = {"forced": "KL that the head forces (nats)", "rest": "rest of KL (nats)"}
UNITS |= dict.fromkeys(DIVIDED, "nats")


def along_training_table(
    measured: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]], unit: str = "byte"
) -> pd.DataFrame:
    """Record of the measurements of every snapshot (see `snapshot.MEASURES`), by model in the order given."""
    table = pd.concat([measured[model["model"]].assign(**facts(model)) for model in models])
    table["unit"] = table.measure.map({name: of.format(unit=unit) for name, of in UNITS.items()})
    return record(table)


def steps(table: pd.DataFrame, model: str, truth: str | None = None) -> pd.DataFrame:
    """Measures of a model by step, one column each; those of a layer are named like ``anisotropy 1``.

    Measures of oversmoothing are against `truth`.
    """
    rows = table[(table.model == model) & (table.truth.isna() | (table.truth == truth))]
    column = rows.measure + rows.layer.map(lambda layer: "" if pd.isna(layer) else f" {int(layer)}").astype(str)
    return rows.assign(column=column).pivot(index="step", columns="column", values="value").sort_index()


def last_layer(table: pd.DataFrame) -> int:
    """Number of blocks."""
    return int(table.layer.max())


def common_loss(table: pd.DataFrame) -> float:
    """Lowest loss that every model reaches, in nats per byte."""
    return float(table[table.measure == "loss"].groupby("model").value.min().max())


def along_training_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a section for loss, head and hidden states and one per truth; a row is a model's last snapshot."""
    last = last_layer(table)
    labels = {"loss": "loss ↓", "singular_entropy": "singular entropy", "effective_rank": "effective rank of W"}
    labels |= {f"anisotropy {layer}": f"anisotropy, layer {layer}" for layer in range(1, last + 1)}
    labels["head_input_anisotropy"] = "anisotropy, what enters the head"
    labels[f"outlier_dimensions {last}"] = "outlier dimensions, last layer"
    labels[f"largest_dimension {last}"] = "largest dimension, last layer"
    sections = [Section("Loss, head and hidden states", _rows(table, None, labels))]
    labels = {"loss": "loss ↓"}
    labels |= {name: labelled(METRICS[name].label, METRICS[name].better) for name in AGAINST_TRUTHS}
    labels |= {name: label for name, label in DIVIDED.items() if (table.measure == name).any()}
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
        f"Over {count:,} positions, under pure decoding. Loss: {table.unit[table.measure == 'loss'].iloc[0]}",
        "Singular entropy: how far the singular values of the head W are from equal, in nats; 0 where they are",
        "Anisotropy: the mean cosine of all pairs of hidden states, after each block and where they enter the head; "
        "1 where all point the same way",
        "Outlier dimensions: those of the last block's output whose root mean square lies three standard deviations "
        "above the mean over dimensions; largest dimension: its share of the squared length",
        f"TTO at a loss of {number(common_loss(table))}: where the training first comes down to the lowest loss that "
        "every model reaches, on a straight line between two kept steps",
        *_on_divided(table),
        directions(METRICS[name].better for name in AGAINST_TRUTHS),
    ]


def _on_divided(table: pd.DataFrame) -> list[str]:
    counts = table.n[table.measure == "forced"]
    if counts.empty:
        return []
    return [
        f"KL that the head forces, and the rest of KL, as in the table `forced`: over {int(counts.max()):,} of the "
        "positions, so they add up to another KL than that beside them"
    ]
