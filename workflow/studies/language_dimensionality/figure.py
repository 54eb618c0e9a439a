"""Beyond the thesis: W-error of n-gram matrices against dimensions, for each text and length of context."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import DASHES, handles, legend, ordered_looks, rank_axis, style, titled

RANK: dict[str, Any] = {"ha": "right", "va": "top", "rotation": 90, "fontsize": 8, "color": "0.45"}
LINE: dict[str, Any] = {"markersize": 4.5, "linewidth": 1.6, "markevery": 0.1}
POINTS = 200  # of a line
PANELS = {"byte": "Bytes", "byte pair": "Byte pairs"}


def draw(spectra: Mapping[str, pd.DataFrame], ranks: Sequence[int]) -> Figure:
    """Draw one line per text and length of context, one column per kind of token; `ranks` of the family are grey lines.

    Pale lines without markers are of the shuffled text. The spectra are by text.
    """
    every = pd.concat(spectra.values())
    tokens = [token for token in PANELS if token in set(every.token)]
    contexts = sorted(every.context.unique())
    looks = ordered_looks(contexts)
    dashes = dict(zip(spectra, cycle(DASHES), strict=False))
    with style():
        figure = Figure(figsize=(5.2 * len(tokens) + 0.4, 4.8))
        panels = figure.subplots(1, len(tokens), sharey=True, squeeze=False)[0]
        for axes, token in zip(panels, tokens, strict=True):
            for text, spectrum in spectra.items():
                for context in contexts:
                    line = spectrum[(spectrum.token == token) & (spectrum.context == context)]
                    line = line[line.d.isin(np.geomspace(1, len(line), POINTS).round())]
                    look: dict[str, Any] = {**looks[context], "linestyle": dashes[text], **LINE}
                    axes.plot(line.d, line.shuffled, **{**look, "marker": "", "linewidth": 1, "alpha": 0.55})
                    axes.plot(line.d, line.w_error.where(line.w_error > 0), **look)
            _frame(axes, ranks, int(every.d[every.token == token].max()))
            axes.set_title(f"{PANELS[token]} as counted; pale: shuffled")
        panels[0].set_ylabel("share lost (W-error), lower is better")
        titled(
            figure,
            "How much of a language do d dimensions lose?",
            "Contexts of a text by the tokens that follow them make a matrix; the share of it that no matrix of rank d "
            "has. Where counted and shuffled text meet, the count is noise.",
        )
        named = {f"context of {n} token{'' if n == 1 else 's'}": look for n, look in looks.items()}
        entries = handles(named, markersize=4.5)
        entries += handles({text: {"color": "0.3", "linestyle": dash} for text, dash in dashes.items()})
        legend(figure, entries)
    return figure


def _frame(axes: Axes, ranks: Sequence[int], largest: int) -> None:
    inside = [rank for rank in ranks if rank <= 1.15 * largest]
    rank_axis(axes, [1, *inside, largest], "dimensions d (grey lines: the models' ranks)")
    axes.set_xlim(1, 1.15 * largest)
    axes.set_ylim(0, 1)
    for rank in inside:
        axes.axvline(rank, color="0.85", linewidth=1, zorder=0)
        axes.annotate(f"rank {rank}", (rank, 1), xycoords=axes.get_xaxis_transform(), **RANK)
