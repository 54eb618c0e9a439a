"""Figure 4.3: how often each byte is a model's argmax, against how often it occurs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from oversmoothing.tables.figures.byte_shares import BYTES, by_frequency, byte_axis, draw_ends, draw_overall, has_others
from oversmoothing.tables.figures.style import legend, model_looks, style, titled
from oversmoothing.tables.page import label
from studies.byte_by_byte.table import ARGMAX, text_of

TEXT = "how often the byte occurs"
NEVER, SOMETIMES = "0.25", "0.94"


def argmax_shares(table: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Share of each byte, 0 to 255, in the text and as the argmax by truth and rank, averaged over seeds.

    ``attrs["positions"]`` is the number of positions.
    """
    argmax = table[table.measure == ARGMAX]
    names = {str(model["model"]): label(model) for model in models}
    of_models = argmax.assign(name=argmax.model.map(names)).pivot_table(index="class", columns="name", values="value")
    text = text_of(table).share.rename(TEXT)
    shares = pd.concat([text, of_models[list(dict.fromkeys(names.values()))]], axis=1)
    shares = shares.reindex(pd.RangeIndex(BYTES, name="byte")).fillna(0.0)
    shares.attrs["positions"] = int(argmax.n.max())
    return shares


def draw(shares: pd.DataFrame, models: Sequence[Mapping[str, Any]], truths: Sequence[str]) -> Figure:
    """Draw how often each byte is the argmax against how often it occurs (thesis Figure 4.3).

    The top panel shows every byte that occurs and, on the right, argmaxes that never occur. The middle panel marks the
    bytes that occur but are never a model's argmax. The bottom panels name the most and the least frequent bytes.

    Parameters
    ----------
    shares : DataFrame
        As `argmax_shares` returns it.
    models : sequence of mappings
        As `argmax_shares` takes them.
    truths : sequence of str
        As in `model_looks`.
    """
    looks = model_looks(models, truths)
    text, own = shares[TEXT], shares[list(looks)]
    used = by_frequency(text)
    with style():
        strip = 0.26 * len(looks)
        figure = Figure(figsize=(10, 8.2 + strip))
        overall, never, most, least = figure.subplot_mosaic(
            [["all", "all"], ["never", "never"], ["most", "least"]], height_ratios=[3.1, strip, 2.7]
        ).values()
        others = has_others(own, used)
        draw_overall(overall, text, own, used, looks)
        overall.set_ylabel("share of positions")
        overall.set_title(f"How often each byte is predicted{'; on the right, all that never occur' if others else ''}")
        _draw_never(never, own, used)
        byte_axis(never, used, "the text", others)
        overall.set_xticks([])
        overall.set_xlim(never.get_xlim())
        most.set_ylabel("share of positions")
        titles = "most frequent bytes", "least frequent bytes that occur"
        draw_ends((most, least), text, own, looks, titles, shares.attrs["positions"], "position")
        positions = f"{shares.attrs['positions']:,} positions"
        titled(
            figure,
            "Which bytes does each model never predict, though they occur?",
            "A byte counts as predicted where it is a model's most probable one. Compared with how often it occurs, "
            f"over {positions}.",
        )
        title = "Distance of a model's shares from those of the text (total variation, lower is better)"
        legend(figure, overall.get_legend_handles_labels()[0], title=title)
    return figure


def _draw_never(axes: Axes, models: pd.DataFrame, used: Sequence[int]) -> None:
    """Draw one row per model, dark at each byte of the text that is never its argmax."""
    never = models.loc[used].to_numpy().T == 0
    axes.pcolormesh(
        np.arange(len(used) + 1) - 0.5,
        np.arange(len(never) + 1) - 0.5,
        never,
        cmap=ListedColormap([SOMETIMES, NEVER]),
        vmin=0,
        vmax=1,
        edgecolors="white",
        linewidth=0.6,
    )
    axes.set_yticks(range(len(never)), [f"{name}: {row.sum()}" for name, row in zip(models, never, strict=True)])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.invert_yaxis()
    axes.set_title(f"Dark: bytes that occur but are never predicted, and how many of the {len(used)}")
