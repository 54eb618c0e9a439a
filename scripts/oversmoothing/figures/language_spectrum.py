"""What a head of d dimensions must lose of a language, as a figure: W-error against d."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from oversmoothing.figures.style import style

PANELS = {"byte": "Bytes", "byte pair": "Byte pairs"}
DASHES: list[Any] = ["solid", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)), (0, (8, 2, 1, 2, 1, 2))]
MARKERS = "os^Dv"


def language_spectrum_figure(spectra: Mapping[str, pd.DataFrame], ranks: Sequence[int]) -> Figure:
    """Draw one line per text and length of context, a panel per kind of token.

    Parameters
    ----------
    spectra : mapping
        From the text to ``token``, ``context``, ``d``, ``w_error``.
    ranks : sequence of int
        Of the family; each is a grey line.
    """
    every = pd.concat(spectra.values())
    tokens = [token for token in PANELS if token in set(every.token)]
    contexts = sorted(every.context.unique())
    shades = sns.color_palette("viridis", len(contexts) + 1)[: len(contexts)]
    dashes = {text: DASHES[i % len(DASHES)] for i, text in enumerate(spectra)}
    with style():
        figure = Figure(figsize=(5.2 * len(tokens) + 0.4, 4.8))
        panels = figure.subplots(1, len(tokens), sharey=True, squeeze=False)[0]
        for axes, token in zip(panels, tokens, strict=True):
            for text, own in spectra.items():
                for i, context in enumerate(contexts):
                    line = own[(own.token == token) & (own.context == context)]
                    axes.plot(
                        line.d,
                        line.w_error.where(line.w_error > 0),
                        color=shades[i],
                        linestyle=dashes[text],
                        marker=MARKERS[i % len(MARKERS)],
                        markevery=[d - 1 for d in _powers(len(line))],
                        markersize=4.5,
                        linewidth=1.6,
                    )
            _frame(axes, token, ranks, int(every.d[every.token == token].max()))
        panels[0].set_ylabel("W-error: share of the n-gram matrix\nthat d dimensions lose")
        handles = [
            Line2D([], [], color=shade, marker=MARKERS[i % len(MARKERS)], markersize=4.5, label=_words(context))
            for i, (context, shade) in enumerate(zip(contexts, shades, strict=True))
        ]
        handles += [Line2D([], [], color="0.3", linestyle=dashes[text], label=text) for text in spectra]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6), frameon=False)
    return figure


def _frame(axes: Axes, token: str, ranks: Sequence[int], largest: int) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xlim(1, 1.15 * largest)
    axes.set_ylim(0, 1)
    ticks = _powers(largest)[:: 1 if largest <= 512 else 2]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlabel("dimensions d")
    axes.set_title(f"{PANELS[token]}; grey: the family's ranks")
    for rank in ranks:
        if rank <= 1.15 * largest:
            axes.axvline(rank, color="0.85", linewidth=1, zorder=0)


def _powers(largest: int) -> list[int]:
    return [2**i for i in range(largest.bit_length()) if 2**i <= largest]


def _words(context: int) -> str:
    return f"context of {context} token{'' if context == 1 else 's'}"
