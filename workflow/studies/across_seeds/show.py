"""Table and figure of what holds across seeds: TTO by rank beside the floor, and steps between neighbouring ranks."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.scores.sums import MEANS, pure_means
from oversmoothing.store.parquet import read_groups, read_table
from oversmoothing.tables.figures.style import (
    Looks,
    handles,
    kind_look,
    legend,
    rank_axis,
    style,
    titled,
    whiskers,
    write_figure,
)
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import LEGENDS
from oversmoothing.tables.record import chosen, record
from studies.across_seeds.table import APART, FAMILY, FLOOR, TTO, across_page, across_table

COLUMNS = ["decoding", "value"]
GREYS = ("0.75", "0.45")
LINE: dict[str, Any] = {"markersize": 5, "linewidth": 1.6, "capsize": 3, "elinewidth": 1.2}
TITLE = "What holds across seeds: levels, steps between ranks, and the floor."


def main(job: Job) -> None:
    """Read the scores and the means of windows; write the table and the figure in all formats."""
    settings = job.params.settings
    models = settings["models"]
    of_equals = pd.DataFrame(list(pure_means(job.input.equals)), columns=MEANS)
    table = across_table(read_table(job.input.windows).to_pandas(), of_equals, settings["equals"])
    by_position = apart(job.input.scores, models)
    write_record(job.output, pd.concat([table, by_position], ignore_index=True), across_page(table, TITLE))
    write_figure(draw(table), [job.output.png, job.output.pdf, job.output.svg])


def apart(paths: Iterable[str], models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the record of how far apart the TTO of a rank and of the next are at a position, on average, by seed."""
    files = {path.stem: path for path in map(Path, paths)}
    family = pd.DataFrame(models).query(f"kind == {FAMILY!r}").sort_values("rank", kind="stable")
    rows = []
    for seed, of_seed in family.groupby("seed"):
        for one, other in pairwise(of_seed.to_dict("records")):
            distance = np.abs(values_of(files[one["model"]]) - values_of(files[other["model"]]))
            known = {key: one[key] for key in ("kind", "rank", "arm")} | {"seed": seed, "less": f"rank {other['rank']}"}
            rows.append({**known, "measure": f"{TTO}{APART}", "value": distance.mean(), "n": len(distance)})
    return record({**row, "unit": METRICS[TTO].unit} for row in rows)


def values_of(path: str | Path) -> np.ndarray:
    """Return values of a file of scores under pure sampling, in the order of its rows."""
    pure = [group.filter(pc.equal(group["decoding"].cast("string"), "pure")) for group in read_groups(path, COLUMNS)]
    return np.concatenate([group["value"].to_numpy() for group in pure])


def draw(table: pd.DataFrame) -> Figure:
    """Draw what `table.across_table` returns, by truth: levels with the floor behind them, and paired steps."""
    of_arms = chosen(table.dropna(subset=["rank", "truth"]), measure=TTO)
    by_rank = of_arms.groupby("kind").apply(lambda part: part.groupby("rank").arm.nunique().max() == 1)
    of_arms = of_arms[of_arms.kind.map(by_rank)]  # several arms at one rank make no line
    looks = {kind: kind_look(kind) for kind in LEGENDS if (of_arms.kind == kind).any()}
    truths = of_arms.truth.unique()
    with style():
        figure = Figure(figsize=(10, 0.9 + 3.5 * len(truths)))
        for truth, (levels, steps) in zip(
            truths, figure.subplots(len(truths), 2, squeeze=False, width_ratios=[1.25, 1]), strict=True
        ):
            of_truth, against = chosen(of_arms, truth=truth), f", against {truth}" if len(truths) > 1 else ""
            floors = _floor(levels, table)
            for i, (kind, look) in enumerate(looks.items()):
                part = chosen(of_truth, less=None, kind=kind).sort_values("rank")
                levels.errorbar(part["rank"].astype(float) * 1.05**i, part.value, whiskers(part), **LINE, **look)
            levels.set_ylim(bottom=0)
            levels.set_title(f"Mean and 95 % interval over seeds{against}", size="medium")
            levels.set_ylabel(f"{METRICS[TTO].name}, lower is better")
            levels.grid(axis="y")
            rank_axis(levels, sorted(of_truth["rank"].unique()))
            _steps(steps, of_truth[of_truth.less.str.startswith("rank", na=False)], looks)
        titled(
            figure,
            "How much leaks by rank, and by how much does each step of rank lower it?",
            f"{METRICS[TTO].name}, the probability added outside the truth's nucleus; the band is chance: what two "
            "models show that differ in their seed alone.",
        )
        entries = handles({LEGENDS[kind]: look for kind, look in looks.items()}, markersize=6, linewidth=1.6)
        legend(figure, [*entries, *floors], columns=2)
    return figure


def _steps(axes: Axes, table: pd.DataFrame, looks: Looks) -> None:
    pairs = list(zip(table["rank"], table.less, strict=True))
    places = {pair: place for place, pair in enumerate(sorted(set(pairs)))}
    at = pd.Series([float(places[pair]) for pair in pairs], table.index)
    for i, (kind, look) in enumerate(looks.items()):
        part = table[table.kind == kind]
        beside = at[part.index] + 0.15 * (i - (len(looks) - 1) / 2)
        axes.errorbar(beside, part.value, whiskers(part), **{**LINE, **look, "linestyle": "none"})
    axes.axhline(0, color="0.35", linewidth=1)
    axes.set_yscale("symlog", linthresh=0.02, linscale=1.5)
    axes.set_yticks([0, 0.01, 0.02, 0.05, 0.1, 0.2], ["0", "0.01", "0.02", "0.05", "0.1", "0.2"])
    axes.minorticks_off()
    axes.set_xticks(range(len(places)), [f"{rank}\n- {less.split()[-1]}" for rank, less in places])
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(axis="y")
    axes.set_xlabel("a rank, and the next of its arm, which is subtracted")
    axes.set_title("Steps, paired by seed (axis: linear below 0.02)", size="medium")


def _floor(axes: Axes, table: pd.DataFrame) -> list[Patch]:
    """Draw a band from the smallest to the largest pair of each group of equals; return their legend entries."""
    pairs = table[(table.measure == f"{TTO}{FLOOR}") & table.model.notna()]
    entries = []
    for (group, part), grey in zip(pairs.groupby("note", sort=False), GREYS, strict=False):
        axes.axhspan(part.value.min(), part.value.max(), facecolor=grey, edgecolor=grey, zorder=0)
        entries.append(Patch(color=grey, label=f"floor: two {group} of different seeds, one as the truth"))
    return entries


if __name__ == "__main__":
    run(main)
