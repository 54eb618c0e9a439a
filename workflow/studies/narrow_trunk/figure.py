"""The figure of trunks that learned on: the loss by step, a panel for each part; and what differs at equal loss."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.tables.figures.colours import PALETTE
from oversmoothing.tables.figures.style import handles, legend, style, titled, whiskers
from oversmoothing.tables.record import chosen
from studies.narrow_trunk.parts import LOSS, SCRATCH
from studies.narrow_trunk.table import PARTS, STOPPED

TITLES = {"plain": "trunk behind a head of rank {}", "backward": "trunk behind a gradient of rank {}"}


def draw(table: pd.DataFrame, unit: str) -> Figure:
    """Draw what `table.narrow_trunk_table` returns; whiskers are 95 % intervals over seeds, or seeds and windows."""
    losses = chosen(table, measure=LOSS, less=None, truth=None)
    looks = {arm: look(part.iloc[0]) for arm, part in losses.groupby("arm", sort=False)}
    parts = [part for part in PARTS if (losses.part == part).any()]
    with style():
        figure = Figure(figsize=(4.2 * (len(parts) + 1), 5.0))
        panels = figure.subplots(1, len(parts) + 1)
        for axes, part in zip(panels, parts, strict=False):
            for arm, (_, drawn) in looks.items():
                own = losses[(losses.arm == arm) & (losses.part == part)].sort_values("step")
                axes.errorbar(own.step.astype(float), own.value, whiskers(own), capsize=2, **drawn)
            start = losses[losses.part == SCRATCH].sort_values("step")
            axes.plot(start.step.astype(float), start.value, **SCRATCH_LOOK)
            axes.set_title(f"{PARTS[part]} learns on", size="medium")
            axes.set_xlabel("steps")
            axes.set_ylim(
                losses[losses.part.isin(parts)].value.min() - 0.05, losses[losses.part.isna()].value.max() + 0.1
            )
            axes.grid(axis="y")
        panels[0].set_ylabel(f"loss on the windows, nats per {unit}")
        _at_equal_loss(panels[-1], table, looks, parts)
        titled(
            figure,
            "Does a narrow head harm the trunk, or does the trunk only lack what was never read?",
            "A new full head on each trunk; one learning rate for all. Last panel: less a full trunk that was stopped "
            "at the same loss and learned on alike; below 0 the narrow trunk is the better one. Bars: 95 %.",
        )
        entries = {name: {**drawn, "linestyle": drawn["linestyle"]} for name, drawn in looks.values()}
        legend(figure, handles({**entries, "from the start": SCRATCH_LOOK}), columns=3)
    return figure


SCRATCH_LOOK: dict[str, Any] = {"color": "0.6", "linestyle": "-.", "marker": ""}


def look(row: pd.Series) -> tuple[str, dict[str, Any]]:
    """Return an arm's name in the legend and how it is drawn."""
    ranks = (4, 8, 16)
    if row["kind"] in TITLES:
        place = ranks.index(row["rank"]) if row["rank"] in ranks else len(ranks)
        colour = PALETTE[place if row["kind"] == "plain" else 4]
        line = "-" if row["kind"] == "plain" else "--"
        return TITLES[row["kind"]].format(row["rank"]), {
            "color": colour,
            "linestyle": line,
            "marker": "o",
        }
    if row["kind"] == "family":
        return "full trunk", {"color": "0.1", "linestyle": "-", "marker": "s"}
    return f"full trunk, {row['arm'].rpartition('-')[2]}", {
        "color": "0.4",
        "linestyle": ":",
        "marker": "s",
    }


def _at_equal_loss(
    axes: Any, table: pd.DataFrame, looks: dict[str, tuple[str, dict[str, Any]]], parts: list[str]
) -> None:
    last = table.step.max()
    rows = chosen(table, measure=LOSS, less=STOPPED, step=last, truth=None)
    axes.axhline(0, color="0.35", linewidth=1)
    arms = [arm for arm in looks if (rows.arm == arm).any()]
    for i, arm in enumerate(arms):
        own = rows[rows.arm == arm].set_index("part").reindex(parts).reset_index()
        at = [place + 0.15 * (i - (len(arms) - 1) / 2) for place in range(len(parts))]
        axes.errorbar(at, own.value, whiskers(own), capsize=2, **{**looks[arm][1], "linestyle": "none"})
    axes.set_xticks(range(len(parts)), [PARTS[part].replace(" and ", "\nand ") for part in parts])
    axes.set_title(f"after {last} steps, less a full trunk of equal loss", size="medium")
    axes.grid(axis="y")
