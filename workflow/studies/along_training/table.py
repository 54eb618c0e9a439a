"""Tables along training: measurements of every snapshot of the models, and of every revision of other people's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.store.layout import number
from oversmoothing.tables.page import Cell, Page, Section, Value, by_model, directions, labelled
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend

NAMES = {
    "loss": "loss ↓",
    "loss_per_byte": "loss per byte ↓",
    "singular_entropy": "singular entropy",
    "effective_rank": "effective rank of W",
    "anisotropy": "anisotropy, last inner layer",
    "head_input_anisotropy": "anisotropy, what enters the head",
    "gradient_share": "gradient that the head passes",
    "gradient_cosine": "its cosine",
    "gradient_rank": "rank of the gradient",
}
DIVIDED = {"forced": "KL that the head forces (nats)", "rest": "rest of KL (nats)"}
UNITS = {"loss": "nats per {unit}", "loss_per_byte": "nats per byte", "vocabulary": "tokens", "gradient_share": "share"}
UNITS |= dict.fromkeys(["singular_entropy", *DIVIDED], "nats") | {"largest_dimension": "share of squared length"}
UNITS |= dict.fromkeys(["effective_rank", "gradient_rank"], "singular values")
UNITS |= dict.fromkeys(["anisotropy", "head_input_anisotropy", "gradient_cosine"], "cosine")
UNITS |= dict.fromkeys(["outlier_dimensions", "width"], "dimensions")
UNITS |= dict.fromkeys(["parameters", "parameters_without_embeddings"], "weights")
UNITS |= {name: METRICS[name].unit for name in AGAINST_TRUTHS}
READ = ["read", "commit", "weights"]  # of a revision: measures that are no numbers


def along_training_table(
    measured: Iterable[pd.DataFrame], models: Sequence[Mapping[str, Any]], unit: str = "byte"
) -> pd.DataFrame:
    """Return the record of the measurements of every snapshot, or of every revision (`others.MEASURES`).

    Those of snapshots are `measure.MEASURES`.

    `models` has the facts of each, for a revision ``model``, ``revision`` and ``step`` as in the config. The notes of
    three measures without a value say what was really ``read``, its ``commit``, and a digest of the ``weights``.
    """
    parts = []
    for values, model in zip(measured, models, strict=True):
        known = facts(model)
        if "revision" in model:
            known |= {"revision": model["revision"], "step": model["step"]}
            read = values.iloc[0].fillna({"read": model["revision"]})
            notes = pd.DataFrame({"measure": READ, "note": [read[name] for name in READ]})
            values = pd.concat([values.drop(columns=[*READ, "instead_of"]), notes.dropna()])
        parts.append(values.assign(**known))
    table = pd.concat(parts)
    table["unit"] = table.measure.map({name: of.format(unit=unit) for name, of in UNITS.items()})
    return record(table)


def steps(table: pd.DataFrame, model: str, truth: str | None = None) -> pd.DataFrame:
    """Return measures of a model by step, one column each; those of a layer are named like ``anisotropy 1``.

    Measures of oversmoothing are against `truth`.
    """
    rows = table[(table.model == model) & (table.truth.isna() | (table.truth == truth))]
    column = rows.measure + rows.layer.map(lambda layer: "" if pd.isna(layer) else f" {int(layer)}").astype(str)
    return rows.assign(column=column).pivot(index="step", columns="column", values="value").sort_index()


def without_layers(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of measures, those of each block of a model only for its last one that was measured."""
    last = table.groupby("model").layer.transform("max")
    return table[table.layer.isna() | (table.layer == last)]


def common_loss(table: pd.DataFrame) -> float:
    """Return the lowest loss that every model reaches, in nats per byte."""
    return float(table[table.measure == "loss"].groupby("model").value.min().max())


def along_training_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section for loss, head and hidden states and one per truth.

    A row is a model's last snapshot.
    """
    last = int(table.layer.max())
    labels = {name: NAMES[name] for name in ("loss", "singular_entropy", "effective_rank")}
    labels |= {f"anisotropy {layer}": f"anisotropy, layer {layer}" for layer in range(1, last + 1)}
    labels["head_input_anisotropy"] = NAMES["head_input_anisotropy"]
    labels[f"outlier_dimensions {last}"] = "outlier dimensions, last layer"
    labels[f"largest_dimension {last}"] = "largest dimension, last layer"
    sections = [Section("Loss, head and hidden states", _rows(table, None, labels))]
    labels = {"loss": NAMES["loss"]}
    labels |= {name: labelled(METRICS[name].label, METRICS[name].better) for name in AGAINST_TRUTHS}
    labels |= {name: label for name, label in DIVIDED.items() if (table.measure == name).any()}
    for truth in table.truth.dropna().unique():
        sections.append(Section(f"Oversmoothing against `{truth}`", _rows(table, truth, labels)))
    return Page(title, sections, _legend(table))


def _rows(table: pd.DataFrame, truth: str | None, labels: Mapping[str, str]) -> list[dict[str, Cell]]:
    loss = common_loss(table)
    rows = []
    for row, of_model in by_model(table):
        along = steps(of_model, of_model.model.iloc[0], truth)
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
    losses, divided = table[table.measure == "loss"], table.n[table.measure == "forced"]
    words = legend(
        __file__,
        "along_training",
        n=int(losses.n.max()),
        of_loss=losses.unit.iloc[0],
        common_loss=number(common_loss(table)),
        divided=int(divided.max()) if divided.notna().any() else None,
    )
    return [*words, directions(METRICS[name].better for name in AGAINST_TRUTHS)]


def others_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section per model of others and a row per revision."""
    sections = []
    for model, revisions in without_layers(table).groupby("model", sort=False):
        rows = [one.set_index("measure") for _, one in revisions.groupby("revision", sort=False)]
        size = rows[0].value
        heading = (
            f"`{model}`: {size['parameters']:,.0f} parameters, {size['parameters_without_embeddings']:,.0f} without "
            f"embeddings and head; a head of {size['vocabulary']:,.0f} tokens and {size['width']:,.0f} dimensions"
        )
        sections.append(Section(heading, [_revision(row) for row in rows]))
    scored = int(table.n[table.measure == "loss_per_byte"].max())
    same = "; ".join(doubles(table))
    return Page(title, sections, legend(__file__, "other_models", scored=scored, same=same))


def _revision(row: pd.DataFrame) -> dict[str, Cell]:
    revision, step = row.revision.iloc[0], row.step.iloc[0]
    read, commit = row.note["read"], row.note.get("commit")
    cells: dict[str, Cell] = {
        "revision": revision,
        "read": f"{read}{f' ({commit[:7]})' if commit else ''}{', for want of it' if read != revision else ''}",
        "step": Value(None if pd.isna(step) else step, decimals=0),
    }
    return cells | {label: Value(row.value.get(name)) for name, label in (NAMES | {"loss": "loss per token ↓"}).items()}


def doubles(table: pd.DataFrame) -> list[str]:
    """Return revisions of a model with the same weights under names of different steps."""
    return [
        f"{model}: {', '.join(alike.revision)}"
        for (model, _), alike in table[table.measure == "weights"].groupby(["model", "note"], sort=False)
        if alike.step.nunique() > 1
    ]
