"""Figure of what a head forces of KL from truths that predict a text better, and of what these save."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import PALETTE, legend, style, titled, whiskers

FORCED, REST = PALETTE[3], "0.78"
WORDS = {
    "neural": "text so far,\nby state",
    "ngram": "text so far,\nby n-gram",
    "neighbours": "other\ndocuments",
    "all": "all three",
    "shuffled": "all three, of\nanother text",
    "longer": "longer\ncontext",
    "flatter": "flatter",
}


def draw(table: pd.DataFrame) -> Figure:
    """Draw for each text, a row, KL with its forced part, and what a truth saves of the loss, by truth."""
    own = table[table["rank"].isna()]
    texts = list(own.text.unique())
    with style():
        figure = Figure(figsize=(11, 1.2 + 3.1 * len(texts)))
        axes = figure.subplots(len(texts), 2, squeeze=False)
        for (left, right), text in zip(axes, texts, strict=True):
            of_text = own[own.text == text]
            _divergence(left, of_text)
            _gains(right, of_text)
            left.set_title(f"KL from the truth, and the part forced: {text}", loc="left", fontsize="medium")
            right.set_title(f"Loss saved on the text itself: {text}", loc="left", fontsize="medium")
        titled(
            figure,
            "What can the head of a model in use not say?",
            "Truths that predict the text: the model mixed with memories.",
        )
        entries = [handle for axis in axes[0] for handle in axis.get_legend_handles_labels()[0]]
        legend(figure, entries, columns=3)
    return figure


def _divergence(axes: Axes, rows: pd.DataFrame) -> None:
    forced_look: dict[str, Any] = {"color": FORCED, "hatch": "//", "edgecolor": "white"}
    for place, truth in enumerate(WORDS):
        kl, forced, share = (_one(rows, truth, measure) for measure in ("kl", "forced", "share"))
        axes.bar(place, kl.value, color=REST, label=None if place else "the rest: its head could say it")
        axes.bar(place, forced.value, **forced_look, label=None if place else "forced by the head")
        axes.errorbar(place, kl.value, whiskers(kl), color="black", linewidth=1.2, capsize=3)
        words = "0 %" if forced.value < 1e-6 else f"{100 * share.value:.0f} %"
        axes.annotate(words, (place, kl.high), (0, 3), textcoords="offset points", ha="center", fontsize="small")
    _finish(axes, "nats a token")


def _gains(axes: Axes, rows: pd.DataFrame) -> None:
    for place, truth in enumerate(WORDS):
        for shift, measure, colour, label in (
            (-0.2, "gain", "0.25", "saved by the truth, at all positions"),
            (0.05, "gain_there", "0.55", "the same where the head was measured"),
            (0.25, "gain_nearest", FORCED, "there, by the nearest distribution of the head"),
        ):
            one = _one(rows, truth, measure)
            look: dict[str, Any] = {"fmt": "o", "color": colour, "markersize": 5, "label": None if place else label}
            axes.errorbar(place + shift, one.value, whiskers(one), **look)
    axes.axhline(0, color="0.6", linewidth=0.8)
    _finish(axes, "nats a token, higher is better")


def _finish(axes: Axes, unit: str) -> None:
    axes.set_xticks(range(len(WORDS)), list(WORDS.values()), fontsize="x-small")
    axes.set_ylabel(unit)
    axes.grid(axis="y")


def _one(rows: pd.DataFrame, truth: str, measure: str) -> pd.Series:
    return rows[(rows.truth == truth) & (rows.measure == measure)].iloc[0]
