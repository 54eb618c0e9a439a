"""Table and figure of the family at equal loss, beside full heads of other numbers of steps."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import WindowSums
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.scores.sums import pure_means, pure_windows, window_means
from oversmoothing.tables.contrasts import over_windows
from oversmoothing.tables.figures.colours import PALETTE
from oversmoothing.tables.figures.style import handles, legend, named, rank_look, style, titled, whiskers, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import KINDS
from oversmoothing.tables.losses import predictions
from oversmoothing.training.history import lowest_loss
from studies.leak_at_equal_loss.table import (
    EQUAL,
    FAMILY,
    LOSS,
    OF_SAMPLES,
    ON_WINDOWS,
    SHORT_CONTEXT,
    SHORTER,
    equal_loss_page,
    equal_loss_table,
)
from studies.sample_quality.table import summarise_quality

TTO = "tto"
LINE: dict[str, Any] = {"color": "0.45", "marker": ".", "linestyle": "-", "linewidth": 1.2}
OTHERS: dict[str, dict[str, Any]] = {
    kind: {"color": "0.2", "marker": KINDS[kind].look[1], "fillstyle": "none", "linestyle": "none", "markersize": 5}
    for kind in ("context", "layers")
}
COMPARED = (TTO, "kl")  # in panels of differences
MAIN, CHECK = EQUAL.values()
WAYS: dict[str, dict[str, Any]] = {  # looks of a rank less a full head, by the `less` of the record
    MAIN: {"label": "beside other steps", "color": PALETTE[2], "marker": "o"},
    CHECK: {"label": "the same, validation text", "color": PALETTE[2], "marker": "s", "fillstyle": "none"},
    MAIN + SHORT_CONTEXT: {"label": "beside fewer bytes seen", "color": PALETTE[4], "marker": "<"},
}


def main(job: Job) -> None:
    """Read losses, scores and quality; write the table and the figure in all formats."""
    settings = job.params.settings
    on_windows = {Path(path).stem: predictions(path).losses for path in job.input.logits}
    windows = pd.concat([pure_windows(job.input.scores), losses_by_window(on_windows)], ignore_index=True)
    losses = [*validation(job.input.histories), *of_windows(on_windows)]
    rows = [*losses, *pure_means(job.input.scores), *judged(job.input.quality)]
    table = equal_loss_table(pd.DataFrame(rows), settings["models"], windows)
    write_record(job.output, table, equal_loss_page(table, settings["truths"]))
    write_figure(draw(table, settings["truths"]), [job.output.png, job.output.pdf, job.output.svg])


def validation(histories: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the validation loss of each model."""
    for path in map(Path, histories):
        yield {"model": path.parent.name, "truth": "", "measure": LOSS, "value": lowest_loss(path)}


def of_windows(losses: Mapping[str, WindowSums]) -> Iterator[dict[str, Any]]:
    """Yield the loss of each model on the scored bytes of the windows."""
    for model, sums in losses.items():
        yield {"model": model, "truth": "", "measure": ON_WINDOWS, "value": sums.mean}


def losses_by_window(losses: Mapping[str, WindowSums]) -> pd.DataFrame:
    """Return the same by window, in the columns of `pure_windows`."""
    known = {"truth": "", "measure": ON_WINDOWS}
    return pd.concat([window_means(sums).assign(model=model, **known) for model, sums in losses.items()])


def judged(paths: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the quality of each model's samples under pure sampling."""
    for path in map(Path, paths):
        for row in summarise_quality(path, resamples=1, seed=0):
            if row["decoding"] == "pure" and row["measure"] in OF_SAMPLES:
                yield {"model": path.stem, "truth": "", "measure": row["measure"], "value": row["value"]}


def draw(table: pd.DataFrame, truths: Sequence[str]) -> Figure:
    """Draw what `table.equal_loss_table` returns: TTO by loss, and the differences of each metric, by truth."""
    table = over_windows(table)
    levels = table[table.arm.notna() & table.less.isna()]
    losses = levels[levels.measure == ON_WINDOWS].set_index("arm").value
    ranks = sorted(int(rank) for rank in levels["rank"].unique())
    own = table[table.kind == FAMILY]
    with style():
        figure = Figure(figsize=(4.4 * (1 + len(COMPARED)), 1.2 + 3.2 * len(truths)))
        panels = figure.subplots(len(truths), 1 + len(COMPARED), squeeze=False, sharey="col")
        for row, truth in zip(panels, truths, strict=True):
            judge = f", by {named(truth, True)}" if len(truths) > 1 else ""
            _line(row[0], levels[(levels.measure == TTO) & (levels.truth == truth)], losses, ranks[-1])
            row[0].set_title(f"TTO by loss{judge}", size="medium")
            row[0].set_ylabel(f"{METRICS[TTO].name}, lower is better")
            for axes, metric in zip(row[1:], COMPARED, strict=True):
                _differences(axes, own[(own.measure == metric) & (own.truth == truth)], ranks[:-1])
                axes.set_title(f"{METRICS[metric].label} above a full head's{judge}", size="medium")
                axes.set_ylabel(f"{METRICS[metric].label}, 0: as the full head")
        titled(
            figure,
            "Is a low rank unlike a full head that predicts as well?",
            "TTO by loss: points are ranks, the line is the full head after fewer or more steps. Other panels: a rank "
            "less a full head of equal loss on the scored text or, hollow, on validation text. Bars: 95 %.",
        )
        looks = {f"rank {rank}": {**rank_look(rank), "linestyle": "none"} for rank in ranks}
        control = Line2D([], [], **LINE, label=f"rank {ranks[-1]}, other steps")
        others = {KINDS[kind].title: OTHERS[kind] for kind in OTHERS if (levels.kind == kind).any()}
        ways = [Line2D([], [], linestyle="none", **look) for less, look in WAYS.items() if (own.less == less).any()]
        legend(figure, [*handles(looks), control, *handles(others), *ways], columns=6)
    return figure


def _line(axes: Axes, table: pd.DataFrame, losses: pd.Series, top: int) -> None:
    table = table.assign(loss=table.arm.map(losses)).sort_values("loss")
    full = table[(table["rank"] == top) & table.kind.isin([FAMILY, SHORTER])]
    for kind, own in table[~table.kind.isin([FAMILY, SHORTER])].groupby("kind"):
        axes.errorbar(own.loss, own.value, whiskers(own), **OTHERS[str(kind)])
    axes.plot(full.loss, full.value, zorder=1, **LINE)
    for _, row in table[table.kind == FAMILY].iterrows():
        look = {**rank_look(int(row["rank"])), "linestyle": "none"}
        axes.errorbar(row.loss, row.value, whiskers(row), capsize=2, elinewidth=1, markersize=7, **look)
    axes.set_xlabel("loss on the scored text, nats a byte")
    axes.grid()


def _differences(axes: Axes, table: pd.DataFrame, ranks: Sequence[int]) -> None:
    """Draw the differences of a metric at equal loss by rank, in each way to be at equal loss."""
    axes.axhline(0, color="0.35", linewidth=1)
    places = {rank: i for i, rank in enumerate(ranks)}
    for i, (less, look) in enumerate(WAYS.items()):
        part = table[table.less == less]
        at = [places[int(rank)] + 0.2 * (i - 1) for rank in part["rank"]]
        axes.errorbar(
            at, part.value, whiskers(part), capsize=3, elinewidth=1.2, markersize=4, **{**look, "linestyle": "none"}
        )
    axes.set_xticks(list(places.values()), [str(rank) for rank in places])
    axes.set_xlabel("rank of what enters the LM head")
    axes.grid(axis="y")


if __name__ == "__main__":
    run(main)
