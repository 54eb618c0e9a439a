"""Shares of bytes against those of a text (Figures 4.3 and 5.1): all bytes, and the extremes by name."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from oversmoothing.data.byte_names import byte_name
from oversmoothing.tables.figures.style import Looks

EXTREMES = 10  # most and least frequent bytes of the text, as in the thesis
BYTES = 256
TEXT: dict[str, Any] = {"color": "0.82"}
NAMES_PER_LINE = 40  # on an axis as wide as a page
MANY = 4  # models side by side


def by_frequency(text: pd.Series) -> list[int]:
    """Return the bytes that a text has, from the most to the least frequent one."""
    falling = text.sort_values(ascending=False, kind="stable")
    return falling.index[falling > 0].tolist()


def has_others(models: pd.DataFrame, used: Sequence[int]) -> bool:
    """Return whether a model has any byte that the text lacks."""
    return bool(models.drop(index=used).to_numpy().any())


def draw_overall(axes: Axes, text: pd.Series, models: pd.DataFrame, used: Sequence[int], looks: Looks) -> None:
    """Draw the shares of all bytes on a logarithmic scale; on the right, the share of bytes that the text lacks.

    `text` and each column of `models` hold the share of each byte, the index; `used` is `by_frequency(text)`.
    """
    place = np.arange(len(used))
    axes.fill_between(place, text[used], step="mid", label=text.name, **TEXT)
    for name, look in looks.items():
        share = models[name]
        distance = (share - text).abs().sum() / 2
        points = share[used].where(share[used] > 0)  # without a line, which would end wherever a share is zero
        axes.plot(place, points, markersize=4, label=f"{name}: {distance:.3f}", **{**look, "linestyle": "none"})
        if (never := share.drop(index=used).sum()) > 0:
            axes.plot([_beyond(used)], [never], markersize=6, **{**look, "linestyle": "none"})
    axes.set_yscale("log")
    if has_others(models, used):
        axes.axvline(len(used) + 0.5, color="0.8", linewidth=1)


def byte_axis(axes: Axes, used: Sequence[int], of_text: str, others: bool) -> None:
    """Name every byte below an axis, on as many lines as needed, and `others` to the right of them."""
    lines = math.ceil(len(used) / NAMES_PER_LINE)
    places = list(range(len(used)))
    names = ["\n" * (i % lines) + byte_name(byte) for i, byte in enumerate(used)]
    if others:
        places, names = [*places, _beyond(used)], [*names, "all\nothers"]
    axes.set_xticks(places, names, fontsize=10 if lines == 1 else 9)
    axes.set_xlim(-1, places[-1] + (2 if others else 1))
    axes.set_xlabel(f"bytes from the most to the least frequent of {of_text}")


def draw_ends(
    axes: Sequence[Axes],
    text: pd.Series,
    models: pd.DataFrame,
    looks: Looks,
    titles: Sequence[str],
    total: int,
    one_of: str,
) -> None:
    """Draw the shares of the most frequent bytes of the text, and beside them, down to a single one, of the least."""
    used = by_frequency(text)
    most, least = used[:EXTREMES], used[-EXTREMES:]
    for panel, title, ends in zip(axes, titles, (most, least), strict=True):
        _draw_named(panel, text[ends], models.loc[ends], looks)
        panel.set_title(f"The {len(ends)} {title}")
    _scale_of_rare(axes[1], max(text[least].max(), models.loc[least].to_numpy().max()), 1 / total, one_of)


def _draw_named(axes: Axes, text: pd.Series, models: pd.DataFrame, looks: Looks) -> None:
    """Draw a bar for each byte of the text and a marker for each model, unclipped at zero."""
    place = np.arange(len(text))
    axes.bar(place, text, width=0.86, **TEXT)
    offsets = np.linspace(-0.36, 0.36, len(looks)) if len(looks) > 1 else [0.0]
    size = 4.5 if len(looks) <= MANY else 3
    for (name, look), offset in zip(looks.items(), offsets, strict=True):
        axes.plot(place + offset, models[name], markersize=size, **{**look, "linestyle": "none"})
    axes.set_xticks(place, [byte_name(byte) for byte in text.index])
    axes.set_ylim(bottom=-0.03 * axes.get_ylim()[1])


def _scale_of_rare(axes: Axes, highest: float, one: float, one_of: str) -> None:
    """Use a symmetric logarithmic scale that includes zero, and mark `one`, the share of a single one."""
    axes.set_yscale("symlog", linthresh=one, linscale=0.6)
    top = 2 * max(highest, one)
    axes.minorticks_off()
    axes.set_yticks([0, *(tick for tick in axes.get_yticks() if one < tick <= top)])
    axes.set_ylim(-0.25 * one, top)
    axes.axhline(one, color="0.4", linewidth=1, linestyle=":")
    axes.text(1.01, one, f"one\n{one_of}", transform=axes.get_yaxis_transform(), va="center", fontsize=9)


def _beyond(used: Sequence[int]) -> int:
    return len(used) + 3
