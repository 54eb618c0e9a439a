"""Table and figures of the frontiers of decoding methods; a figure has a panel per method, against all others."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.measures.cuts import BAT, ENDS, FIRST, HINDSIGHT, LAST, ORACLE
from oversmoothing.measures.frontiers import Frontiers, frontier
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import PALETTE, handles, legend, style, titled, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import facts, record
from studies.cut_frontier.table import frontier_page

FORMATS = 3  # files of each figure
COLUMNS = 4
OWN: dict[str, Any] = {"color": PALETTE[0], "marker": "o", "markersize": 4, "linewidth": 1.6, "zorder": 4}
CUT_FIRST: dict[str, Any] = {**OWN, "color": PALETTE[1], "marker": "s", "markerfacecolor": "none", "linestyle": "--"}
OTHERS: dict[str, Any] = {"color": "0.8", "linewidth": 0.8, "zorder": 1}
REFERENCE: dict[str, Any] = {"color": "0.25", "linewidth": 1.1, "zorder": 2}
BOUND: dict[str, Any] = {"color": "black", "linestyle": (0, (1, 1.5)), "linewidth": 1.1, "zorder": 2}
PERFECT: dict[str, Any] = {"color": "black", "linestyle": (0, (5, 3)), "linewidth": 1.1, "zorder": 2}


def main(job: Job) -> None:
    """Read the sums of all models; write the table in all formats, and the figures."""
    settings = job.params.settings
    rows, points = [], {}
    for model, path in zip(settings["models"], job.input, strict=True):
        sums = read_table(path).to_pandas()
        keys = {**facts(model), **{name: model[name] for name in ("law", "sequences") if name in model}}
        for truth, part in sums.groupby("truth", sort=False, observed=True):
            of_pair = Frontiers(part, settings["reference"], settings["resamples"], settings["seed"])
            rows += [{**keys, "truth": truth, **row} for row in of_pair.rows()]
            points[model.get("law"), model["model"], str(truth)] = of_pair.points()
    table = record(pd.DataFrame(rows))
    write_record(job.output, table, frontier_page(table, settings["reference"]))
    for i, of in enumerate(settings["figures"]):
        model, truth = middle(points, of["law"])
        at = points[of["law"], model, truth]
        title = f"{model} against {'the law ' + of['law'] if of['law'] else truth}"
        drawn = draw(at[at.temperature == of["temperature"]], title, settings["reference"])
        write_figure(drawn, job.output.figures[FORMATS * i : FORMATS * (i + 1)])


def middle(pairs: Iterable[tuple[str | None, str, str]], law: str | None) -> tuple[str, str]:
    """Return the model in the middle of those with a law, and its first truth, to draw."""
    truths: dict[str, str] = {}
    for of, model, truth in pairs:
        if of == law:
            truths.setdefault(model, truth)
    return list(truths.items())[len(truths) // 2]


def draw(points: pd.DataFrame, title: str, reference: str) -> Figure:
    """Draw a panel for each method, from the settings of one model at one temperature (`table.Frontiers.points`)."""
    impossible = bool(points.impossible.any())
    points = points.assign(leak=points.impossible if impossible else points.leak)
    (temperature,) = set(points.temperature)
    settings = {key: part.sort_values("parameter") for key, part in points.groupby(["order", "method"], sort=False)}
    methods = [name for name in points.method.unique() if name not in (*ENDS, ORACLE, HINDSIGHT)]
    columns = min(COLUMNS, len(methods))
    lines = -(-len(methods) // columns)
    with style():
        figure = Figure(figsize=(3 * columns, 2.7 * lines + 0.9))
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for axes in panels.flat[len(methods) :]:
            axes.set_visible(False)
        for axes, name in zip(panels.flat, methods, strict=False):
            for other in methods:
                _line(axes, settings.get((FIRST, other)), OTHERS)
            _line(axes, settings.get((FIRST, reference)), REFERENCE)
            if not impossible:
                _line(axes, settings[FIRST, HINDSIGHT], BOUND)
            axes.axhline(float(settings[FIRST, ORACLE].kept.iloc[0]), **PERFECT)
            _points(axes, settings.get((LAST, name)), CUT_FIRST)
            _points(axes, settings.get((FIRST, name)), OWN)
            axes.set_title("BAT" if name == BAT else name)
        for axes in panels[:, 0]:
            axes.set_ylabel("kept of the truth's nucleus")
        for column in panels.T:
            axes = [axes for axes in column if axes.get_visible()][-1]  # the last row may not be full
            axes.set_xlabel("mass on impossible tokens" if impossible else "leaked outside (TTO)")
            axes.tick_params(labelbottom=True)
        looks = {
            "the method of the panel, each point a setting": OWN,
            "the same, cut before the temperature": CUT_FIRST,
            f"{reference}, for comparison": REFERENCE,
            "the other methods": OTHERS,
            "bound: best cut in hindsight": BOUND,
            "bound: the truth's own nucleus": PERFECT,
        }
        if temperature == 1:
            del looks["the same, cut before the temperature"]
        if impossible:
            del looks["bound: best cut in hindsight"]
        legend(figure, handles(looks), columns=3)
        titled(
            figure,
            "What does a decoding method keep of the likely tokens for the same leak?",
            f"Up and to the left is better. Temperature {temperature:g}, {title}. BAT: basis-aware threshold.",
        )
    return figure


def _line(axes: Axes, curve: pd.DataFrame | None, look: dict[str, Any]) -> None:
    if curve is not None:
        axes.plot(*frontier(curve.leak.to_numpy(), curve.kept.to_numpy()), **look)


def _points(axes: Axes, curve: pd.DataFrame | None, look: dict[str, Any]) -> None:
    """Draw settings with the intervals of what is kept."""
    if curve is not None:
        axes.errorbar(curve.leak, curve.kept, [curve.kept - curve.low, curve.high - curve.kept], capsize=0, **look)


if __name__ == "__main__":
    run(main)
