"""How well the models predict: validation loss and argmax accuracy (thesis Table 3.1)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from oversmoothing.data.windows import read_windows
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.tables.page import IN_BRACKETS, Page, Section, Value, by_model, directions, labelled
from oversmoothing.tables.published import by_key, caveats, printed, that_matter
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend

METRICS = {
    "validation_loss": ("Validation loss", "nats per {unit}", "lower"),
    "loss": ("Loss", "nats per {unit}", "lower"),
    "loss_per_byte": ("Loss per byte", "nats per byte", "lower"),
    "bits_per_byte": ("Bits per byte", "bits per byte", "lower"),
    "accuracy": ("Accuracy", "share of {unit}s", "higher"),
}


def token_losses(losses: WindowSums, windows: str | Path, resamples: int, seed: int) -> dict[str, Summary]:
    """Summarise the losses of a model over tokens on the scored text, per token and per byte of that text.

    Losses per byte can be compared between models with different tokens. They are a ratio, nats of a window over its
    bytes, so they have an interval but no standard deviation (NaN).
    """
    table = read_windows(windows)
    sizes = dict(zip(table["window"].to_pylist(), map(len, table["scored"].to_pylist()), strict=True))
    nats = {window: total + (losses.origin or 0.0) * losses.count[window] for window, total in losses.total.items()}
    per_byte = WindowSums({window: sizes[window] for window in nats}, nats, dict.fromkeys(nats, 0.0), origin=0.0)
    return {
        "loss": summarise(losses, resamples, seed),
        "loss_per_byte": replace(summarise(per_byte, resamples, seed), sd=float("nan")),
    }


def byte_losses(losses: WindowSums, resamples: int, seed: int) -> dict[str, Summary]:
    """Summarise the losses of a model over bytes on the scored text, in nats and in bits per byte."""
    nats = summarise(losses, resamples, seed)
    scaled = {name: getattr(nats, name) / math.log(2) for name in ("mean", "sd", "low", "high")}
    return {"loss": nats, "bits_per_byte": replace(nats, **scaled)}


class Predictions(NamedTuple):
    """What a model predicts over the scored bytes of all windows, so that heads never trained have losses too."""

    losses: WindowSums  # minus the log-probability of the correct byte, in nats
    right: WindowSums  # 1 where the most probable byte is the correct one, else 0; ties go to the lowest byte


def predictions(logits: str | Path) -> Predictions:
    """Sum a model's predictions by window, one row group at a time."""
    losses, right = WindowSums(), WindowSums()
    for group, values in logit_groups(logits, ["window", "target"]):
        windows, targets = group["window"].to_numpy(), group["target"].to_numpy()
        right.add(windows, (values.argmax(axis=1) == targets).astype(np.float64))
        exact = values.astype(np.float64)
        losses.add(windows, logsumexp(exact, axis=1) - exact[np.arange(len(targets)), targets])
    return Predictions(losses, right)


def losses_table(
    values: Mapping[str, Mapping[str, Summary | float]],
    models: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
    unit: str = "byte",
) -> pd.DataFrame:
    """Return the record of the loss and accuracy of each model, beside the thesis's (Table 3.1).

    `values` are by model and name.
    """
    cells = by_key(published, "model", "metric")
    rows = []
    for model in models:
        for metric, value in values[model["model"]].items():
            _, of, better = METRICS[metric]
            rows.append(
                {
                    **facts(model),
                    "measure": metric,
                    **(numbers(value) if isinstance(value, Summary) else {"value": value}),
                    "unit": of.format(unit=unit),
                    "better": better,
                    **printed(cells, (model["published_as"], metric), that_matter(model["differs"])),
                }
            )
    return record(rows)


def losses_page(table: pd.DataFrame, title: str, unit: str = "byte") -> Page:
    """Return the page with one row per model, ours beside the published."""
    rows = []
    for row, of_model in by_model(table):
        by_metric = of_model.set_index("measure").to_dict("index")
        for metric, (label, _, better) in METRICS.items():
            if not (table.measure == metric).any():
                continue
            cell = by_metric.get(metric, {})
            row[labelled(label, better)] = Value(*(cell.get(name) for name in ("value", "sd", "low", "high")))
            if table.published[table.measure == metric].notna().any():
                whose = cell.get("published_model") if of_model.kind.iloc[0] == "truth" else None
                row[f"published {label.lower()}"] = Value(
                    cell.get("published"), note=f"({whose})" if pd.notna(whose) else ""
                )
        rows.append(row)
    counted = table.n[table.measure == "accuracy"]
    count = int(counted.max()) if counted.notna().any() else "all"
    trained, loss = ((table.measure == measure).any() for measure in ("validation_loss", "loss"))
    words = legend(__file__, "losses", unit=unit, count=count, trained=trained, loss=loss)
    return Page(title, [Section("", rows)], [*words, directions(table.better), *caveats(table)], IN_BRACKETS)
