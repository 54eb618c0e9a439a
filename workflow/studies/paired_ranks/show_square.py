"""The table and the figure of the closed square: what a full and a narrow head make of each trunk."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.tables.figures.style import PALETTE, handles, legend, named, style, titled, whiskers, write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import chosen, read_record
from studies.paired_ranks.paired import COMPARED
from studies.paired_ranks.square import FULL, LESS_BOTH, NARROW, RETRAINED, SHOWN, TRAINED, square_page, square_table

TITLE = "What a rank costs in the trunk and in the head, each head retrained on a frozen trunk."
TRUNKS = {  # in the order in which they had ever less
    FULL: "full\nhead",
    "full head, gradient of rank r": "full head,\ngradient\nof rank r",
    NARROW: "head of\nrank r",
}
LOOKS: dict[str, dict[str, Any]] = {
    FULL: {"color": PALETTE[0], "marker": "o", "linestyle": "-"},
    NARROW: {"color": PALETTE[1], "marker": "v", "linestyle": "--"},
}
HOLLOW = {
    "hollow: as trained, less the full model": {"color": "0.35", "marker": "D", "linestyle": "", "fillstyle": "none"}
}
APART = {FULL: -0.08, NARROW: 0.08}


def main(job: Job) -> None:
    """Read the differences by seed; write the table and the figure in all formats."""
    table = square_table(read_record(job.input.seeds))
    write_record(job.output, table, square_page(table, TITLE))
    figure = draw(read_record(job.output.csv), job.params.settings["truth"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw what each head costs on each trunk, TTO against `truth`; whiskers are 95 % intervals over seeds."""
    table = table[table.truth.isna() | (table.truth == truth)]
    costs = table[table.less.notna() & (table.less != LESS_BOTH)]
    ranks = sorted(table["rank"][table.kind == "own_trunk"].unique(), reverse=True)
    read = {trunk for kind, (trunk, _) in (RETRAINED | TRAINED).items() if kind in set(table.kind)}
    trunks = [trunk for trunk in TRUNKS if trunk == FULL or trunk in read]
    with style():
        figure = Figure(figsize=(1.2 + 3.0 * max(len(ranks), 2), 6.4))
        panels = figure.subplots(len(SHOWN), len(ranks), sharex=True, sharey="row", squeeze=False)
        for measure, line in zip(SHOWN, panels, strict=True):
            for rank, axes in zip(ranks, line, strict=True):
                part = chosen(costs, rank=rank, measure=measure).set_index("kind")
                _panel(axes, part, trunks)
                axes.set_title(f"{COMPARED[measure][0]}, r = {rank}", size="medium")
        for axes in panels[-1]:
            axes.set_xticks(range(len(trunks)), [TRUNKS[trunk] for trunk in trunks], size="small")
        panels[-1, 0].set_xlabel("what stood on the trunk when it was trained", loc="left")
        heads = {f"read by a {head}": look for head, look in LOOKS.items()}
        legend(figure, handles(heads, markersize=6, linewidth=1.4) + handles(HOLLOW, markersize=6), columns=3)
        seeds = int(table.n.max())
        titled(
            figure,
            "What do trunk and head of rank r cost over a full head on its own trunk?",
            f"Mean of {seeds} seeds; whiskers: 95 % (Student's t); TTO against {named(truth)}; lower is better.",
        )
    return figure


def _panel(axes: Axes, part: pd.DataFrame, places: Sequence[str]) -> None:
    axes.axhline(0, color="0.35", linestyle=":", linewidth=1.2)
    lines: dict[str, list[tuple[float, float]]] = {FULL: [(APART[FULL], 0.0)], NARROW: []}
    for kinds, filled in ((RETRAINED, True), (TRAINED, False)):
        for kind, (trunk, head) in kinds.items():
            if kind in part.index:
                row = part.loc[kind]
                x = places.index(trunk) + APART[head] * (1 if filled else 2)
                look = {**LOOKS[head], "linestyle": "", "fillstyle": "full" if filled else "none"}
                axes.errorbar([x], [row.value], yerr=whiskers(row), markersize=6, linewidth=1.2, capsize=2.5, **look)
                if filled:
                    lines[head].append((x, row.value))
    axes.plot(*lines[FULL][0], markersize=6, **{**LOOKS[FULL], "linestyle": ""})
    for head, points in lines.items():
        axes.plot(*zip(*points, strict=True), linewidth=1.2, **{**LOOKS[head], "marker": ""})
    axes.grid(axis="y")
    axes.set_xlim(-0.5, len(places) - 0.5)


if __name__ == "__main__":
    run(main)
