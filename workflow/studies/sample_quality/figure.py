"""Figure 5.1: shares of bytes in the models' samples against human text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.byte_shares import by_frequency, byte_axis, draw_ends, draw_overall, has_others
from oversmoothing.tables.figures.style import legend, model_looks, style, titled
from studies.sample_quality.byte_frequencies import BYTES, count_bytes


def byte_frequencies(
    windows: str | Path, samples: Sequence[str | Path], models: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Return the share of each byte, the index, in human and model continuations of the same prompts.

    `samples` has one file for each of `models`; those of one rank count together. The columns are ``human`` and one per
    rank ("rank 4") or model without a rank; ``attrs["bytes"]`` is the length of the human text.
    """
    human = read_table(windows, ["window", "scored"])
    truth = dict(zip(human["window"].to_pylist(), human["scored"].to_pylist(), strict=True))
    counts: dict[str, np.ndarray] = {}
    seen: set[int] = set()
    for path, model in zip(samples, models, strict=True):
        table = read_table(path, ["window", "continuation"])
        if unknown := set(table["window"].to_pylist()) - truth.keys():
            raise UserError(f"{path}: window {min(unknown)} is not in {windows}; delete the samples and run again")
        seen.update(table["window"].to_pylist())
        name = str(model["model"]) if model["rank"] is None else f"rank {model['rank']}"
        counts[name] = counts.get(name, 0) + count_bytes(table["continuation"].to_pylist()).sum(axis=0)
    people = count_bytes([text for window, text in truth.items() if window in seen]).sum(axis=0)
    shares = {name: count / max(1, count.sum()) for name, count in {"human": people, **counts}.items()}
    frequencies = pd.DataFrame(shares, index=pd.RangeIndex(BYTES, name="byte"))
    frequencies.attrs["bytes"] = int(people.sum())
    return frequencies


def draw(frequencies: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the shares that `byte_frequencies` returns, of models against human text (thesis Figure 5.1)."""
    human = frequencies["human"].rename("human text")
    looks = model_looks(models)
    sampled = frequencies[list(looks)]
    used = by_frequency(human)
    with style():
        figure = Figure(figsize=(10, 8.2))
        overall, most, least = figure.subplot_mosaic(
            [["all", "all"], ["most", "least"]], height_ratios=[1.15, 1]
        ).values()
        draw_overall(overall, human, sampled, used, looks)
        others = has_others(sampled, used)
        byte_axis(overall, used, "human text", others)
        overall.set_ylabel("share of all bytes")
        overall.set_title(f"All bytes{'; on the right, all that human text never has, together' if others else ''}")
        most.set_ylabel("share of all bytes")
        titles = "most frequent bytes of human text", "least frequent bytes that it has"
        draw_ends((most, least), human, sampled, looks, titles, frequencies.attrs["bytes"], "byte")
        titled(figure, "Which bytes do the models write, beside human text?", "After the same prompts.")
        title = "Samples by rank, and their distance from human text (total variation, lower is better)"
        legend(figure, overall.get_legend_handles_labels()[0], title=title)
    return figure
