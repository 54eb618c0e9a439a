"""Figures 4.2, 4.3 and A.1: oversmoothing and argmaxes byte by byte, and what each byte value is in UTF-8."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from oversmoothing.data.byte_names import byte_kind, byte_name
from oversmoothing.data.reader import read_split
from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.figures.byte_shares import BYTES, by_frequency, byte_axis, draw_ends, draw_overall, has_others
from oversmoothing.tables.figures.style import legend, model_looks, named, style, titled, write_figure
from oversmoothing.tables.page import label
from oversmoothing.tables.record import read_record
from studies.byte_by_byte.table import ARGMAX, NSMD, count_bytes, text_of

HOLLOW: dict[str, Any] = {"color": "0.3", "marker": "o", "markerfacecolor": "white", "linestyle": "none"}
OTHERS: dict[str, Any] = {"color": "0.75", "marker": "_", "linestyle": "none", "markersize": 5, "zorder": 1}
TEXT = "how often the byte occurs"
NEVER, SOMETIMES = "0.25", "0.94"
SIDE = 16
KINDS: dict[str, tuple[str, dict[str, Any]]] = {  # label and look; hatches distinguish similar greys
    "letter": ("ASCII letter", {"facecolor": "#cfe5f7"}),
    "digit": ("ASCII digit", {"facecolor": "#9fd0c0"}),
    "punctuation": ("ASCII space (SP) or punctuation", {"facecolor": "#fdf3c4"}),
    "control": ("control character", {"facecolor": "#e4e4e4"}),
    "continuation": ("later byte of a character (continuation)", {"facecolor": "#ffffff", "hatch": "...."}),
    "first of 2": ("first byte of a character of 2 bytes", {"facecolor": "#f3d9c1", "hatch": "//"}),
    "first of 3": ("first byte of a character of 3 bytes", {"facecolor": "#f3d9c1", "hatch": "xx"}),
    "first of 4": ("first byte of a character of 4 bytes", {"facecolor": "#f3d9c1", "hatch": "||"}),
    "never": ("never in UTF-8", {"facecolor": "#8a8a8a"}),
}
EDGE = "0.7"
DOT = "#1f3b73"
SMALLEST, LARGEST = 4.0, 150.0  # area of the dots, in points squared


def main(job: Job) -> None:
    """Read the table of bytes and the training text; write the figures."""
    counts = count_bytes(read_split(job.input.training, job.input.manifest, "train"))
    table = read_record(job.input.table)
    models, truths = job.params.settings["models"], job.params.settings["truths"]
    figures = {
        "byte_oversmoothing": draw_oversmoothing(table, models, truths[0]),
        "argmax_frequency": draw_argmaxes(argmax_shares(table, models), models, truths),
        "utf8_bytes": draw_chart(counts),
    }
    for name, figure in figures.items():
        write_figure(figure, job.output[name])


def draw_oversmoothing(table: pd.DataFrame, models: Sequence[Mapping[str, Any]], truth: str) -> Figure:
    """Draw the mean NSMD at each byte of the text, and below it how often the byte occurs (thesis Figure 4.2)."""
    family = [model for model in models if model["kind"] == "family"]
    looks = model_looks(family)
    several_seeds = len({model["seed"] for model in family}) > 1
    names = {str(model["model"]): (label(model, several_seeds), looks[label(model)]) for model in family}
    nsmd = table[(table.measure == NSMD) & (table.truth == truth)]
    used = nsmd["class"].unique().tolist()
    occurrences = text_of(table).occurrences[used]
    sums = nsmd.assign(total=nsmd.value * nsmd.n).groupby("model", sort=False)[["total", "n"]].sum()
    means = (sums.total / sums.n).sort_values(ascending=False, kind="stable")
    worst, *others, best = means.index if len(means) > 1 else [None, *means.index]
    with style():
        figure = Figure(figsize=(10, 7))
        above, below = figure.subplots(2, 1, height_ratios=[2.2, 1])
        for i, model in enumerate(others):
            at_bytes = nsmd[nsmd.model == model].set_index("class").value[used]
            above.plot(range(len(used)), at_bytes, label="the models between" if not i else None, **OTHERS)
        for model, word, offset in ((worst, "most", -0.16), (best, "least", 0.16)):
            if model:
                name, look = names[model]
                words = f"{name} oversmooths {word}: {means[model]:.3f} over all positions"
                _means(above, nsmd[nsmd.model == model].set_index("class").loc[used], offset, words, look)
                above.axhline(means[model], color=look["color"], linewidth=1, linestyle=(0, (4, 3)), zorder=0.5)
        above.set_ylabel(f"mean {METRICS['nsmd'].name}: probability missing\nfrom the truth's likeliest bytes")
        above.axhline(0, color="0.8", linewidth=1, zorder=0)
        above.set_xticks([])
        above.set_title("Means over the positions whose byte it is, with 95 % intervals; dashed: over all positions")
        below.bar(range(len(used)), occurrences, width=0.86, color="0.6")
        below.set_yscale("log")
        below.yaxis.set_major_formatter("{x:,.0f}")
        below.set_ylim(bottom=0.7)
        below.set_title("How many positions that are")
        below.set_ylabel("occurrences")
        byte_axis(below, used, "the text", others=False)
        above.set_xlim(below.get_xlim())
        titled(
            figure,
            "Is a rare byte oversmoothed more than a frequent one?",
            f"NSMD against {named(truth)} by the byte that comes next; lower is better.",
        )
        above.plot([], [], label="hollow: in one window alone, so without an interval", **HOLLOW)
        legend(figure, above.get_legend_handles_labels()[0], columns=2)
    return figure


def _means(axes: Axes, nsmd: pd.DataFrame, offset: float, words: str, look: Mapping[str, Any]) -> None:
    place = np.arange(len(nsmd)) + offset
    look = {**look, "markersize": 4, "linestyle": "none"}
    certain = nsmd.low.notna().to_numpy()
    axes.vlines(place[certain], nsmd.low[certain], nsmd.high[certain], color=look["color"], linewidth=1, alpha=0.7)
    axes.plot(place[certain], nsmd.value[certain], label=words, **look)
    axes.plot(place[~certain], nsmd.value[~certain], markerfacecolor="white", **look)


def argmax_shares(table: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the share of each byte, 0 to 255, in the text and as the argmax by truth and rank, averaged over seeds.

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


def draw_argmaxes(shares: pd.DataFrame, models: Sequence[Mapping[str, Any]], truths: Sequence[str]) -> Figure:
    """Draw how often each byte is the argmax (see `argmax_shares`) against how often it occurs (thesis Figure 4.3).

    The top panel shows every byte that occurs and, on the right, argmaxes that never occur. The middle panel marks the
    bytes that occur but are never a model's argmax. The bottom panels name the most and the least frequent bytes.
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


def draw_chart(counts: np.ndarray) -> Figure:
    """Draw the 256 byte values by their role in UTF-8, with dots that grow with the logarithm of their counts."""
    with style():
        figure = Figure(figsize=(10, 11.4))
        axes = figure.add_subplot()
        for b in range(BYTES):
            row, column = divmod(b, SIDE)
            axes.add_patch(Rectangle((column, row), 1, 1, edgecolor=EDGE, linewidth=0.6, **KINDS[byte_kind(b)][1]))
            colour = "white" if byte_kind(b) == "never" else "black"
            axes.text(column + 0.07, row + 0.08, byte_name(b), va="top", fontsize=9, color=colour)
        seen = np.flatnonzero(counts)
        rows, columns = np.divmod(seen, SIDE)
        axes.scatter(columns + 0.7, rows + 0.68, s=_area(counts[seen], counts.max()), color=DOT, linewidths=0)
        axes.set_xlim(0, SIDE)
        axes.set_ylim(SIDE, 0)
        axes.set_aspect("equal")
        digits = [f"{i:X}" for i in range(SIDE)]
        axes.set_xticks(np.arange(SIDE) + 0.5, [f"…{digit}" for digit in digits])
        axes.set_yticks(np.arange(SIDE) + 0.5, [f"{digit}…" for digit in digits])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        total = int(counts.sum())
        text = f"which has {len(seen)} of the 256 among its {total:,} bytes."
        titled(
            figure,
            "What is each of the 256 byte values in UTF-8, and how often does it occur?",
            "A row has the first hexadecimal digit, a column the second. "
            f"Dots: occurrences in the training text, {text}",
        )
        _legends(figure, axes, counts)
    return figure


def _area(counts: np.ndarray, most: int) -> np.ndarray:
    share = np.log(counts) / max(np.log(most), 1.0)
    return SMALLEST + (LARGEST - SMALLEST) * share**2


def _legends(figure: Figure, axes: Axes, counts: np.ndarray) -> None:
    patches = [Patch(edgecolor=EDGE, label=words, **look) for words, look in KINDS.values()]
    legend(figure, patches, loc="outside lower left", ncols=2)
    most = int(counts.max())
    dots = [
        axes.scatter([], [], s=_area(np.array([count]), most)[0], color=DOT, linewidths=0, label=f"{count:,}")
        for count in (10**exponent for exponent in range(len(str(most))))
    ]
    legend(figure, dots, loc="outside lower right", ncols=2, title="occurrences of a byte")


if __name__ == "__main__":
    run(main)
