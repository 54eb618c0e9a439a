"""TTO by rank against each truth, and KL by rank, forced and rest, against the own and the real truth."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.figures.colours import PALETTE
from oversmoothing.tables.figures.style import legend, other_look, rank_axis, style, titled
from studies.real_truth.table import FORCED

TTO = AGAINST_TRUTHS[0]
WIDTH = 0.38  # of a bar


def draw(table: pd.DataFrame, truths: Mapping[str, Sequence[str]]) -> Figure:
    """Draw what `table.truths_table` returns."""
    levels = table[(table.kind == "family") & table.less.isna()]
    main = [truths["own"][0], truths["real"][0]]
    with style():
        figure = Figure(figsize=(10, 4.6))
        leak, parts = figure.subplots(1, 2, width_ratios=[1.1, 1])
        entries = _leak(leak, levels[levels.measure == TTO], [*truths["own"], *truths["real"]], main)
        own = table[(table.model == main[0]) & (table.truth == main[1]) & (table.measure == TTO)]
        if len(own):
            leak.axhline(own.value.iloc[0], color="0.35", linestyle=(0, (1, 2)), linewidth=1.2)
            entries.append(
                Line2D([], [], color="0.35", linestyle=(0, (1, 2)), label=f"{main[0]} itself against {main[1]}")
            )
        entries += _parts(parts, levels, main)
        titled(
            figure,
            "How much leaks by rank, judged by a truth of our own and by a real language model?",
            f"Left: {METRICS[TTO].name}, the probability added outside the truth's nucleus. Right: what each head "
            f"forces of the KL to {main[0]} (left bar) and to {main[1]} (right bar), and the rest.",
        )
        legend(figure, entries, columns=4)
    return figure


def _leak(axes: Axes, table: pd.DataFrame, truths: Sequence[str], main: Sequence[str]) -> list[Artist]:
    entries: list[Artist] = []
    for i, truth in enumerate(truths):
        part = table[table.truth == truth].sort_values("rank")
        if part.empty:
            continue
        weight = 2.0 if truth in main else 1.0
        look = {**other_look(i), "linewidth": weight, "markersize": 3 + 1.5 * weight}
        errors = [part.value - part.low, part.high - part.value]
        axes.errorbar(part["rank"].astype(float), part.value, errors, capsize=2, elinewidth=1, **look)
        entries.append(Line2D([], [], **look, label=f"against {truth}"))
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.set_ylabel(f"{METRICS[TTO].name}, lower is better")
    axes.set_title("Mean and 95 % interval over seeds", size="medium")
    rank_axis(axes, sorted(int(rank) for rank in table["rank"].unique()))
    return entries


def _parts(axes: Axes, table: pd.DataFrame, main: Sequence[str]) -> list[Artist]:
    ranks = sorted(int(rank) for rank in table["rank"].unique())
    for i, truth in enumerate(main):
        of_truth = table[table.truth == truth].set_index(["measure", "rank"]).value
        forced = [float(of_truth.get((FORCED, rank), float("nan"))) for rank in ranks]
        whole = [float(of_truth[("kl", rank)]) for rank in ranks]
        places = [place + (i - 0.5) * (WIDTH + 0.04) for place in range(len(ranks))]
        axes.bar(places, whole, WIDTH, color="0.85")
        axes.bar(places, forced, WIDTH, color=PALETTE[i])
        for place, part, total in zip(places, forced, whole, strict=True):
            axes.annotate(
                f"{part / total:.0%}", (place, total), (0, 2), textcoords="offset points", ha="center", size="x-small"
            )
    axes.set_xticks(range(len(ranks)), [str(rank) for rank in ranks])
    axes.set_xlabel("rank of what enters the LM head")
    axes.set_ylabel("KL (nats a byte); above each bar the share forced")
    axes.set_title("What the head forces of KL", size="medium")
    axes.grid(axis="y")
    forced_entries = [Patch(color=PALETTE[i], label=f"forced, against {truth}") for i, truth in enumerate(main)]
    return [*forced_entries, Patch(color="0.85", label="the rest of KL")]
