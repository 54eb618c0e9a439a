"""Which bytes models write, against human text, as a figure (thesis Figure 5.1)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.byte_names import byte_name
from oversmoothing.figures.style import style
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table

EXTREMES = 10  # most and least frequent bytes of human text, as in the thesis
BYTES = 256
HUMAN: dict[str, Any] = {"color": "0.82", "label": "human text"}


def byte_frequencies(
    windows: str | Path, samples: Sequence[str | Path], models: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Count the bytes that humans and models go on with after the same prompts.

    Parameters
    ----------
    windows : path
        The evaluation windows.
    samples : paths
        Files of samples, one per model in the order of `models`.
    models : sequence of mappings
        ``model`` and ``rank`` of each. Models of one rank, which differ in their seed, are counted together.

    Returns
    -------
    DataFrame
        Index ``byte``, 0 to 255; ``human`` and one column per rank ("rank 4") or model without one, in order: the
        share of each byte in the text. ``attrs["bytes"]`` has the length of the human text.

    Raises
    ------
    UserError
        If a file is missing or damaged, or samples are of a window that `windows` does not have.
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
        counts[name] = counts.get(name, 0) + _count(table["continuation"].to_pylist())
    own = _count([text for window, text in truth.items() if window in seen])
    shares = {name: count / max(1, count.sum()) for name, count in {"human": own, **counts}.items()}
    frequencies = pd.DataFrame(shares, index=pd.RangeIndex(BYTES, name="byte"))
    frequencies.attrs["bytes"] = int(own.sum())
    return frequencies


def byte_frequency_figure(frequencies: pd.DataFrame) -> Figure:
    """Draw the share of each byte in models' samples against human text (thesis Figure 5.1).

    Above, every byte that human text has, from the most to the least frequent, and on the right what models write
    that it never has; below, the most and the least frequent ones by name.

    Parameters
    ----------
    frequencies : DataFrame
        As `byte_frequencies` gives it.
    """
    human = frequencies["human"]
    models = frequencies.drop(columns="human")
    falling = human.sort_values(ascending=False, kind="stable").index
    used = [byte for byte in falling if human[byte] > 0]
    colours = dict(zip(models, sns.color_palette("plasma_r", len(models.columns) + 1).as_hex()[1:], strict=True))
    with style():
        figure = Figure(figsize=(10, 8.2))
        overall, most, least = figure.subplot_mosaic(
            [["all", "all"], ["most", "least"]], height_ratios=[1.15, 1]
        ).values()
        _overall(overall, human, models, used, colours)
        _extremes(most, human, models, used[:EXTREMES], colours)
        most.set_title(f"The {min(EXTREMES, len(used))} most frequent bytes of human text")
        most.set_ylim(bottom=0)
        rare = used[-EXTREMES:]
        _extremes(least, human, models, rare, colours)
        least.set_title(f"The {len(rare)} least frequent bytes that it has")
        _scale_of_rare(least, frequencies.loc[rare], frequencies.attrs["bytes"])
        figure.suptitle("Which bytes the models write, beside human text after the same prompts", x=0.01, ha="left")
        handles, labels = overall.get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            title="Samples by rank of what enters the LM head, and their total variation distance from human text",
            frameon=False,
            loc="outside lower center",
            ncols=6,
            fontsize="small",
            title_fontsize="small",
        )
    return figure


def _count(texts: Sequence[bytes]) -> np.ndarray:
    return np.bincount(np.frombuffer(b"".join(texts), np.uint8), minlength=BYTES)


def _overall(axes: Axes, human: pd.Series, models: pd.DataFrame, used: list[int], colours: Mapping[str, str]) -> None:
    place = np.arange(len(used))
    axes.fill_between(place, human[used], step="mid", **HUMAN)
    beyond = len(used) + 3
    for name, colour in colours.items():
        share = models[name]
        distance = (share - human).abs().sum() / 2
        line = share[used].where(share[used] > 0)
        axes.plot(place, line, color=colour, linewidth=1.3, label=f"{name}: {distance:.3f}")
        if (never := share.drop(index=used).sum()) > 0:
            axes.plot([beyond], [never], marker="o", markersize=6, color=colour, linestyle="none")
    axes.set_yscale("log")
    axes.axvline(len(used) + 0.5, color="0.8", linewidth=1)
    every = max(1, round(len(used) / 45))
    ticks = [*place[::every], beyond]
    axes.set_xticks(ticks, [*(byte_name(b) for b in used[::every]), "all\nothers"], fontsize=7)
    axes.set_xlim(-1, beyond + 2)
    axes.set_xlabel(f"bytes from the most to the least frequent of human text{', some by name' if every > 1 else ''}")
    axes.set_ylabel("share of all bytes")
    axes.set_title("All bytes; on the right, all that human text never has, together")


def _extremes(
    axes: Axes, human: pd.Series, models: pd.DataFrame, chosen: list[int], colours: Mapping[str, str]
) -> None:
    place = np.arange(len(chosen))
    axes.bar(place, human[chosen], width=0.86, **HUMAN)
    offsets = np.linspace(-0.32, 0.32, len(colours)) if len(colours) > 1 else [0.0]
    for (name, colour), offset in zip(colours.items(), offsets, strict=True):
        axes.plot(place + offset, models.loc[chosen, name], color=colour, marker="o", markersize=4.5, linestyle="none")
    axes.set_xticks(place, [byte_name(byte) for byte in chosen])
    axes.set_ylabel("share of all bytes")


def _scale_of_rare(axes: Axes, shares: pd.DataFrame, total: int) -> None:
    """Show shares over magnitudes, zero included, and how little one single byte is."""
    one = 1 / total
    axes.set_yscale("symlog", linthresh=one, linscale=0.6)
    top = 2 * max(shares.to_numpy().max(), one)
    axes.minorticks_off()
    axes.set_yticks([0, *(tick for tick in axes.get_yticks() if one < tick <= top)])
    axes.set_ylim(-0.25 * one, top)
    axes.axhline(one, color="0.4", linewidth=1, linestyle=":")
    axes.text(1.01, one, "one\nbyte", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
