"""Style of all figures: ranks, kinds of model, truths, axes and legends; and writing of reproducible files."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # cluster nodes have no display

import numpy as np
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sums import write_sum
from oversmoothing.tables.figures.colours import PALETTE, RED
from oversmoothing.tables.kinds import KINDS
from oversmoothing.tables.page import label

DPI = 200
METADATA: dict[str, dict[str, Any]] = {  # no dates or versions in files
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}

Look = Mapping[str, Any]
Looks = Mapping[str, Look]  # by label in the legend

MARKERS = "osD^vP*Xp<>h"
DASHES: list[Any] = ["solid", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)), (0, (8, 2, 1, 2, 1, 2))]
RANK_MARKERS = "pX>vo*sPDh^d<"  # by half octaves of the rank: 4 is "o", 8 "s", 12 "P", 16 "D"
PALEST, DARKEST = 2, 512  # ranks at the ends of the colours
# Sizes in points and letters to an inch of what stands above a figure: a question, and the answer of this run.
QUESTION, ANSWER = (12, 10), (10, 14)
TRUTHS: list[dict[str, Any]] = [  # below the lines of models, so as not to hide them
    {"color": "black", "marker": "d", "linestyle": (0, (4, 2)), "zorder": 1.9},
    {"color": "black", "marker": "p", "linestyle": (0, (1, 1.5)), "zorder": 1.9},
    {"color": "black", "marker": "h", "linestyle": (0, (5, 1.5, 1, 1.5)), "zorder": 1.9},
]
RIGHT: dict[str, Any] = {"facecolor": RED, "hatch": "////", "edgecolor": "white"}  # the byte that follows
WRONG: dict[str, Any] = {"facecolor": "0.72"}


@contextmanager
def style() -> Iterator[None]:
    """Draw and save in the style that all figures share: ticks, no frame, a colour-blind-safe palette."""
    look: dict[Any, Any] = {**sns.axes_style("ticks"), **sns.plotting_context("notebook", font_scale=0.9)}
    look |= {
        "axes.prop_cycle": cycler(color=PALETTE),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "figure.constrained_layout.use": True,
        "font.family": ["DejaVu Sans", "sans-serif"],  # the first ships with matplotlib, so text is the same everywhere
        "grid.color": "0.9",
        "legend.fontsize": "small",
        "legend.frameon": False,
        "legend.title_fontsize": "small",
        "pdf.fonttype": 42,  # letters, not outlines, here and in SVG
        "savefig.dpi": DPI,
        "svg.fonttype": "none",
        "svg.hashsalt": "oversmoothing",
    }
    with mpl.rc_context(look):
        yield


def write_figure(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Write a figure to each path, as .png, .svg or .pdf by its suffix; equal figures give equal bytes.

    The files have the words that `titled` put above the figure as their title; web pages take them for those who do not
    see it. A checksum is written beside a .svg, which web pages contain. The figure is laid out once, for the first
    path, as that takes longer than to draw it.
    """
    for path in map(Path, paths):
        kind = path.suffix.removeprefix(".")
        with style(), atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=METADATA[kind] | {"Title": figure.get_label()})
            if kind == "svg":
                write_sum(path, temporary)
        with mpl.rc_context({"figure.constrained_layout.use": False}):
            figure.set_layout_engine(None)  # that of these settings: none


def rank_look(rank: int) -> dict[str, Any]:
    """Return the colour, marker and line of a rank, the same in every figure of every study."""
    darkness = math.log(rank / PALEST) / math.log(DARKEST / PALEST)
    shade = 0.9 * (1 - min(max(darkness, 0), 1))  # avoids a yellow too pale on white
    marker = RANK_MARKERS[round(2 * math.log2(rank)) % len(RANK_MARKERS)]
    return {"color": mpl.colors.to_hex(mpl.colormaps["plasma"](shade)), "marker": marker, "linestyle": "-"}


def kind_look(kind: str) -> dict[str, Any]:
    """Return the colour, marker and line of a kind of model."""
    colour, marker, line = KINDS[kind].look
    return {"color": PALETTE[colour], "marker": marker, "linestyle": line}


def other_look(i: int) -> dict[str, Any]:
    """Return the colour, marker and line of the i-th model that has no rank and is not a truth."""
    return {
        "color": PALETTE[i % len(PALETTE)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": DASHES[i % len(DASHES)],
    }


def model_looks(models: Sequence[Mapping[str, Any]], truths: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Return looks by label, in the order of a legend: those of `truths`, ranks from the lowest, then other models."""
    models = [{"kind": "family", **model} for model in models]
    shown = {label(model) for model in models if model["kind"] == "truth"}
    ranks = {model["rank"]: label(model) for model in models if model["kind"] != "truth" and model["rank"] is not None}
    others = [label(model) for model in models if model["kind"] != "truth" and model["rank"] is None]
    looks = {name: dict(look) for name, look in zip(truths, cycle(TRUTHS), strict=False) if name in shown}
    looks |= {ranks[rank]: rank_look(int(rank)) for rank in sorted(ranks)}
    return looks | {name: other_look(i) for i, name in enumerate(dict.fromkeys(others))}


def named(truth: str, several: bool = False) -> str:
    """Return a truth in a sentence: "the truth" where that is its name, or "our own truth" where there are several."""
    return truth if truth != "truth" else "our own truth" if several else "the truth"


def ordered_looks(items: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """Return the colour and marker of ordered items, such as steps, blocks or lengths of context.

    Later ones are darker.
    """
    colours = sns.color_palette("viridis_r", len(items) + 1).as_hex()[1:]
    shades = zip(items, colours, cycle(MARKERS), strict=False)
    return {item: {"color": colour, "marker": marker} for item, colour, marker in shades}


def whiskers(rows: Any) -> np.ndarray:
    """Return lengths (2, n) of the whiskers of rows of a record, or of a single one, as `errorbar` takes them."""
    return np.reshape([rows.value - rows.low, rows.high - rows.value], (2, -1))


def handles(looks: Looks, **common: Any) -> list[Line2D]:
    """Return legend entries, one line for each key of `looks`."""
    return [Line2D([], [], **{"label": name, **common, **look}) for name, look in looks.items()]


def legend(figure: Figure, entries: Sequence[Any], columns: int = 6, **options: Any) -> None:
    """Put a legend below a figure, in rows of about equal length; `options` are passed to matplotlib."""
    rows = math.ceil(len(entries) / columns)
    ncols = math.ceil(len(entries) / rows)
    figure.legend(**{"handles": entries, "loc": "outside lower center", "ncols": ncols, **options})


def titled(figure: Figure, question: str, answer: str = "") -> None:
    """Put above a figure what it compares, in bold, and what this run says to it; a line break begins a new line."""
    asked, told = (
        "\n".join(textwrap.fill(line, int(letters * figure.get_figwidth())) for line in text.split("\n") if line)
        for text, (_, letters) in ((question, QUESTION), (answer, ANSWER))
    )
    lines = asked.count("\n") + 1
    top = 1 - figure.get_layout_engine().get()["h_pad"] / figure.get_figheight()  # type: ignore[union-attr]  # `style`
    look: dict[str, Any] = {"x": 0.01, "ha": "left", "va": "top", "parse_math": False}
    # The layout makes room for one text alone, so the answer begins with an empty line for each of the question.
    spaced = {"size": ANSWER[0], "linespacing": QUESTION[0] / ANSWER[0] * 1.15}
    figure.suptitle("\n" * lines + told, **look, **spaced)
    figure.text(**look, y=top, s=asked, size=QUESTION[0], weight="bold", linespacing=1.15)
    figure.set_label(" ".join(f"{question} {answer}".split()))


def step_axis(axes: Axes, last: int, linear: bool = False, narrow: bool = False, beyond: float | None = None) -> None:
    """Set up the x axis for steps, logarithmic or linear; `beyond` is the position of items without a step."""
    _name_below(axes, "steps")
    if linear:
        axes.xaxis.set_major_formatter("{x:,.0f}")
        return
    axes.set_xscale("symlog", base=10, linthresh=1, linscale=0.4)
    base = (4 if last < 1000 else 10) ** (2 if narrow else 1)
    ticks = [0, *(base**i for i in range(20) if base**i <= last)] if last or beyond is None else []
    labels = [f"{tick // 1000}k" if tick >= 1000 else str(tick) for tick in ticks]
    if beyond is not None:
        axes.set_xlim(-0.3 if ticks else beyond / 10, 1.6 * beyond)
        ticks, labels = [*ticks, beyond], [*labels, "no step"]
    axes.set_xticks(ticks, labels)
    axes.xaxis.set_minor_locator(NullLocator())


def rank_axis(
    axes: Axes,
    ranks: Sequence[int],
    name: str = "rank of what enters the LM head",
    others: Sequence[int] = (),
) -> None:
    """Set up the x axis for ranks, logarithmic, with ticks apart: the ends, powers of two, the rest, `others`."""
    _name_below(axes, name)
    axes.set_xscale("log", base=2)
    low, high = min(ranks), max(ranks)
    apart = 0.5 if high <= 512 * low else 1.01  # octaves
    powers = [2**i for i in range(30) if low <= 2**i <= high]
    inner = sorted(ranks, key=lambda rank: (not math.log2(rank).is_integer(), rank))
    ticks: list[int] = []
    for rank in (low, high, *inner, *others, *powers):
        if all(abs(math.log2(rank / tick)) >= apart for tick in ticks):
            ticks.append(rank)
    axes.set_xticks(sorted(ticks), [f"{tick:,}" for tick in sorted(ticks)])
    axes.xaxis.set_minor_locator(NullLocator())


def _name_below(axes: Axes, name: str) -> None:
    """Label the x axis of a panel in the last row."""
    place = axes.get_subplotspec()
    if place is None or place.is_last_row():
        axes.set_xlabel(name)
