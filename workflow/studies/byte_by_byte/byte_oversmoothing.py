"""Figure 4.2: NSMD at each byte for the models that oversmooth most and least, and how often the byte occurs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.tables.figures.byte_shares import byte_axis
from oversmoothing.tables.figures.style import legend, model_looks, named, style, titled
from oversmoothing.tables.page import label
from studies.byte_by_byte.table import NSMD, text_of

HOLLOW: dict[str, Any] = {"color": "0.3", "marker": "o", "markerfacecolor": "white", "linestyle": "none"}
OTHERS: dict[str, Any] = {"color": "0.75", "marker": "_", "linestyle": "none", "markersize": 5, "zorder": 1}


def worst_and_best(table: pd.DataFrame, truth: str) -> dict[str, float]:
    """Mean NSMD of each model against a truth over all positions, the highest first."""
    nsmd = table[(table.measure == NSMD) & (table.truth == truth)]
    sums = nsmd.assign(total=nsmd.value * nsmd.n).groupby("model", sort=False)[["total", "n"]].sum()
    means = (sums.total / sums.n).sort_values(ascending=False, kind="stable")
    return {str(model): float(mean) for model, mean in means.items()}


def draw(table: pd.DataFrame, models: Sequence[Mapping[str, Any]], truth: str) -> Figure:
    """Draw the mean NSMD at each byte of the text, and below it how often the byte occurs (thesis Figure 4.2)."""
    family = [model for model in models if model["kind"] == "family"]
    looks = model_looks(family)
    several_seeds = len({model["seed"] for model in family}) > 1
    names = {str(model["model"]): (label(model, several_seeds), looks[label(model)]) for model in family}
    nsmd = table[(table.measure == NSMD) & (table.truth == truth)]
    used = nsmd["class"].unique().tolist()
    occurrences = text_of(table).occurrences[used]
    means = worst_and_best(table, truth)
    worst, *others, best = [*means] if len(means) > 1 else [None, *means]
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
