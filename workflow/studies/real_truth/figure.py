"""TTO by rank against each truth, and KL by rank, forced and rest, against the own truth and each real one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.figures.colours import PALETTE
from oversmoothing.tables.figures.style import legend, named, other_look, rank_axis, style, titled, whiskers
from oversmoothing.tables.record import chosen

TTO = "tto"
FORCED = "forced"
OF = "_of"  # at the end of a measure: the KL at the same positions
WIDTH = 0.8  # of the bars of a rank


def draw(table: pd.DataFrame, truths: Mapping[str, Sequence[str]]) -> Figure:
    """Draw what `table.truths_table` returns."""
    levels = chosen(table, kind="family", less=None)
    main = truths["main"]
    labels = {name: f"{named(name)}, trained here" for name in truths["own"]} | {name: name for name in truths["real"]}
    with style():
        figure = Figure(figsize=(10, 4.6))
        leak, parts = figure.subplots(1, 2, width_ratios=[1.1, 1])
        entries = _leak(leak, levels[levels.measure == TTO], labels, main)
        entries += _truths(leak, chosen(table, kind="truth", measure=TTO), main, truths["real"])
        entries += _parts(parts, levels, {name: labels[name] for name in main})
        titled(
            figure,
            "How much leaks by rank, judged by a truth of our own and by real language models?",
            f"Left: {METRICS[TTO].name}, the probability added outside the truth's nucleus. Right: what each head "
            f"forces of KL, bars from left to right against {', '.join(labels[name] for name in main)}; its share "
            f"stands above.",
        )
        legend(figure, entries, columns=3)
    return figure


def _truths(axes: Axes, table: pd.DataFrame, main: Sequence[str], real: Sequence[str]) -> list[Artist]:
    entries: list[Artist] = []
    for row in table[table.model.isin(main) & table.truth.isin(main) & table.truth.isin(real)].itertuples():
        look: dict[str, Any] = {"color": other_look(main.index(row.truth))["color"], "linewidth": 1.2}
        look["linestyle"] = (0, (1, 2)) if row.model == main[0] else (0, (6, 2, 1, 2))
        axes.axhline(row.value, **look)
        entries.append(Line2D([], [], **look, label=f"{named(row.model)} itself, against {row.truth}"))
    return entries


def _leak(axes: Axes, table: pd.DataFrame, labels: Mapping[str, str], main: Sequence[str]) -> list[Artist]:
    entries: list[Artist] = []
    looks = [*main, *(truth for truth in labels if truth not in main)]  # the main ones have the colours of their bars
    for truth, label in labels.items():
        part = table[table.truth == truth].sort_values("rank")
        weight = 2.0 if truth in main else 1.0
        look = {**other_look(looks.index(truth)), "linewidth": weight, "markersize": 3 + 1.5 * weight}
        axes.errorbar(part["rank"].astype(float), part.value, whiskers(part), capsize=2, elinewidth=1, **look)
        entries.append(Line2D([], [], **look, label=f"against {label}"))
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.set_ylabel(f"{METRICS[TTO].name}, lower is better")
    axes.set_title("Mean and 95 % interval over seeds", size="medium")
    rank_axis(axes, sorted(int(rank) for rank in table["rank"].unique()))
    return entries


def _parts(axes: Axes, table: pd.DataFrame, labels: Mapping[str, str]) -> list[Artist]:
    ranks = sorted(int(rank) for rank in table["rank"].unique())
    width = WIDTH / len(labels)
    for i, truth in enumerate(labels):
        of_truth = table[table.truth == truth].set_index(["measure", "rank"]).value
        forced, whole = ([float(of_truth[measure, rank]) for rank in ranks] for measure in (FORCED, f"{FORCED}{OF}"))
        places = [place + (i - (len(labels) - 1) / 2) * width for place in range(len(ranks))]
        axes.bar(places, whole, 0.9 * width, color="0.85")
        axes.bar(places, forced, 0.9 * width, color=PALETTE[i])
        for place, part, total in zip(places, forced, whole, strict=True):
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "size": 5.5}
            axes.annotate(f"{part / total:.0%}", (place, total), (0, 2), **look)
    axes.set_xticks(range(len(ranks)), [str(rank) for rank in ranks])
    axes.set_xlabel("rank of what enters the LM head")
    axes.set_ylabel("KL, nats a byte")
    axes.set_title("What the head forces of KL", size="medium")
    axes.grid(axis="y")
    entries = [Patch(color=PALETTE[i], label=f"forced, against {label}") for i, label in enumerate(labels.values())]
    return [*entries, Patch(color="0.85", label="the rest of KL")]
