"""Table of other people's models: measurements of every revision."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, Value
from oversmoothing.tables.record import SCHEMA, record

UNITS = {"parameters": "weights", "parameters_without_embeddings": "weights", "vocabulary": "tokens"}
UNITS |= {"width": "dimensions", "loss": "nats per token", "loss_per_byte": "nats per byte"}
UNITS |= {"singular_entropy": "nats", "effective_rank": "singular values"}
UNITS |= {"gradient_share": "share", "gradient_cosine": "cosine", "gradient_rank": "singular values"}
UNITS |= dict.fromkeys(["anisotropy", "head_input_anisotropy"], "cosine")
LABELS = {"loss": "loss per token ↓", "loss_per_byte": "loss per byte ↓", "singular_entropy": "singular entropy"}
LABELS |= {"effective_rank": "effective rank of W", "last_anisotropy": "anisotropy, last inner layer"}
LABELS |= {"head_input_anisotropy": "anisotropy, what enters the head"}
LABELS |= {"gradient_share": "gradient that the head passes", "gradient_cosine": "its cosine"}
LABELS |= {"gradient_rank": "rank of the gradient"}
KEYS = ["model", "revision", "step"]
ORIGIN = ["read", "commit", "weights"]  # measures that are no numbers


def other_models_table(measured: Sequence[pd.DataFrame], revisions: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Record of the measurements (see `measure.MEASURES`, `measure.ORIGIN`) of every revision of every model, stacked.

    `revisions` are ``model``, ``revision``, ``step`` of each, as in the config. The notes of three measures without a
    value say what was really ``read``, its ``commit``, and a digest of the ``weights``.
    """
    parts = []
    for values, revision in zip(measured, revisions, strict=True):
        read = values.iloc[0].fillna({"read": revision["revision"]})
        notes = pd.DataFrame({"measure": ORIGIN, "note": [read[name] for name in ORIGIN]})
        numbers = values.drop(columns=[name for name in values if name not in SCHEMA])
        parts.append(pd.concat([numbers, notes.dropna()]).assign(**revision))
    table = pd.concat(parts)
    table["unit"] = table.measure.map(UNITS)
    return record(table)


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """One row per revision and one column per measure; those of a layer are named like ``anisotropy 1``.

    ``last_anisotropy`` is that of the last inner layer, the last block whose output transformers returns.
    """
    column = table.measure + table.layer.map(lambda layer: "" if pd.isna(layer) else f" {int(layer)}").astype(str)
    order = table.drop_duplicates(["model", "revision"])[KEYS]
    index, notes = ["model", "revision"], table.measure.isin(ORIGIN)
    values = table[~notes].assign(column=column).pivot(index=index, columns="column", values="value")
    values[ORIGIN] = table[notes].pivot(index=index, columns="measure", values="note").reindex(columns=ORIGIN)
    last = table[table.measure == "anisotropy"].sort_values("layer").groupby(["model", "revision"]).value.last()
    values["last_anisotropy"] = last
    return order.merge(values.reset_index(), on=["model", "revision"]).reset_index(drop=True)


def doubles(table: pd.DataFrame) -> list[str]:
    """Revisions of a model with the same weights under names of different steps."""
    order = wide(table)
    return [
        f"{model}: {', '.join(alike.revision)}"
        for (model, _), alike in order.groupby(["model", "weights"], sort=False)
        if alike.step.nunique() > 1
    ]


def other_models_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a section per model and a row per revision."""
    sections = [
        Section(f"`{model}`: {_size(rows.iloc[0])}", [_cells(row) for row in rows.to_dict("records")])
        for model, rows in wide(table).groupby("model", sort=False)
    ]
    return Page(title, sections, _legend(table))


def _size(row: pd.Series) -> str:
    return (
        f"{row.parameters:,.0f} parameters, {row.parameters_without_embeddings:,.0f} without embeddings and head; "
        f"a head of {row.vocabulary:,.0f} tokens and {row.width:,.0f} dimensions"
    )


def _cells(row: Mapping[str, Any]) -> dict[str, Cell]:
    fell_back = row["read"] != row["revision"]
    commit = "" if pd.isna(row["commit"]) else f" ({row['commit'][:7]})"
    cells: dict[str, Cell] = {
        "revision": row["revision"],
        "read": f"{row['read']}{commit}{', for want of it' if fell_back else ''}",
        "step": Value(row["step"], decimals=0),
    }
    return cells | {label: Value(row[name]) for name, label in LABELS.items()}


def _legend(table: pd.DataFrame) -> list[str]:
    scored = table[table.measure == "loss_per_byte"].n
    parts = [
        f"Loss: over {int(scored.max()):,} bytes from the beginning of the evaluation split, in nats per token, and "
        "the same nats per byte, so that models with other tokenizers compare; ↓ lower is better",
        "Singular entropy: how far the singular values of the head W are from equal, in nats; 0 where they are. "
        "Effective rank: exp of their entropy, at most the head's dimensions",
        "Anisotropy: the mean cosine of all pairs of hidden states, 1 where all point the same way. Last inner "
        "layer: the last block whose output transformers gives as it is, mostly the last but one; the CSV has every "
        "layer. What enters the head has in most models passed one more LayerNorm",
        "Gradient that the head passes: of the squared norm of the loss's gradient with respect to the logits, the "
        "share in the column space of W, all that reaches the rest of the model (Godey and Artzi 2026); its cosine: of "
        "that part with the whole gradient, the mean over tokens; rank: singular values above 1 % of the largest, of "
        "the gradients of up to 1,024 tokens",
        "Read: the revision that was really read, and its commit",
    ]
    if same := doubles(table):
        parts.append(f"Mind that these hold the same weights, whatever their names say: {'; '.join(same)}")
    return parts
