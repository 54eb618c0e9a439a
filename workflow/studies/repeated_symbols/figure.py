"""Losses along training against draws per symbol, and the draws and steps needed by vocabulary."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from oversmoothing.tables.figures.style import handles, legend, ordered_looks, other_look, rank_axis, style, titled
from studies.repeated_symbols.arms import ARMS, LONG, title
from studies.repeated_symbols.table import NEEDED

BOUND: dict[str, Any] = {"color": "0.35", "linestyle": (0, (1, 1.2)), "linewidth": 1.4}
COLUMNS = 4


def draw(runs: pd.DataFrame, table: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a panel for each arm, with a line for each vocabulary and seed, and two of what all arms need.

    `runs` has ``arm`` and the columns of `measure.LOSSES`, without trials; `table` is that of `table.repeated_table`.
    """
    shown = [name for name in ARMS if name != LONG]
    every = sorted(settings["vocabularies"])
    looks = {v: {**look, "marker": ""} for v, look in ordered_looks(every).items()}
    with style():
        rows = -(-(len(shown) + 2) // COLUMNS)
        figure = Figure(figsize=(13, 3.3 * rows))
        panels = list(figure.subplots(rows, COLUMNS).flat)
        for axes, name in zip(panels, shown, strict=False):
            _losses(axes, runs[runs.arm == name], looks, settings)
            axes.set_title(title(name, settings), fontsize="medium")
        kinds = {name: other_look(i) for i, name in enumerate(shown)}
        for axes, (measure, label) in zip(panels[len(shown) :], NEEDED.items(), strict=False):
            _needed(axes, table[table.measure == measure], kinds)
            axes.set_title(f"{label[0].upper()}{label[1:]} needed", fontsize="medium")
            rank_axis(axes, every, "symbols v", narrow=True)
        for axes in panels[len(shown) + len(NEEDED) :]:
            axes.set_axis_off()
        titled(
            figure,
            "How many draws of each symbol does it take to learn that symbols repeat, by vocabulary and arm?",
            "Loss as a share of that of guessing (log v); lower is better.",
        )
        entries = handles({f"v = {v:,}": look for v, look in looks.items()}, linewidth=1.6)
        entries += handles({"no learner that knows nothing of symbols not yet drawn": BOUND})
        entries += handles({title(name, settings): look for name, look in kinds.items()}, markersize=6)
        legend(figure, entries, columns=4)
    return figure


def bound(draws: np.ndarray, v: int) -> np.ndarray:
    r"""Return the least share of log v that is left without knowledge of symbols that were not drawn.

    After n draws per symbol a share :math:`e^{-n}` of v symbols has not been drawn (Poisson), and nothing says which of
    them follows one of them: :math:`e^{-n} \log(v e^{-n}) / \log v`.
    """
    share: np.ndarray = np.exp(-draws) * np.clip(1 - draws / np.log(v), 0, None)
    return share


def _losses(axes: Axes, runs: pd.DataFrame, looks: Mapping[int, Any], settings: Mapping[str, Any]) -> None:
    for (v, _), run in runs.groupby(["vocabulary", "seed"]):
        axes.plot(run.draws, run.loss / np.log(v), linewidth=1.2, **looks[v])
    draws = np.linspace(0, settings["draws"], 200)
    axes.plot(draws, bound(draws, max(settings["vocabularies"])), zorder=1, **BOUND)
    axes.axhline(settings["threshold"], color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlim=(0, settings["draws"]), ylim=(0, 1.15), xlabel="draws per symbol", ylabel="loss / log v")


def _needed(axes: Axes, table: pd.DataFrame, looks: Mapping[str, Any]) -> None:
    for name, look in looks.items():
        part = table[table.kind == name].sort_values("vocabulary")
        if part.value.notna().any():
            errors = [part.value - part.low, part.high - part.value]
            axes.errorbar(part.vocabulary, part.value, errors, markersize=5, linewidth=1.4, capsize=2, **look)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y")
