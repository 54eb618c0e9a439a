"""What a full and a narrow head make of each trunk: the closed square, one panel for each rank and measure."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.tables.figures.style import PALETTE, handles, legend, named, style
from studies.paired_ranks.paired import COMPARED
from studies.paired_ranks.square import COST, RETRAINED, SHOWN, TRAINED

TRUNKS = {  # in the order in which they had ever less
    "full head": "full\nhead",
    "both heads": "both\nheads",
    "full head, gradient of rank r": "full head,\ngradient\nof rank r",
    "rank r": "head of\nrank r",
}
LOOKS = {
    "full head": {"color": PALETTE[0], "marker": "o", "linestyle": "-"},
    "rank r": {"color": PALETTE[1], "marker": "v", "linestyle": "--"},
}
APART = {"full head": -0.08, "rank r": 0.08}


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw what each head costs on each trunk; whiskers are 95 % intervals over seeds.

    Parameters
    ----------
    table : DataFrame
        As `square.square_table` returns it.
    truth : str
        The truth against which oversmoothing is measured.
    """
    table = table[table.truth.isna() | (table.truth == truth)]
    ranks = sorted(table["rank"][table.kind == "own_trunk"].unique(), reverse=True)
    with style():
        figure = Figure(figsize=(1.2 + 3.0 * max(len(ranks), 2), 6.4))
        panels = figure.subplots(len(SHOWN), len(ranks), sharex=True, sharey="row", squeeze=False)
        for measure, line in zip(SHOWN, panels, strict=True):
            for rank, axes in zip(ranks, line, strict=True):
                part = table[(table["rank"] == rank) & (table.measure == f"{measure}{COST}")].set_index("kind")
                _panel(axes, part)
                axes.set_title(f"{COMPARED[measure][0]}, r = {rank}", size="medium")
        for axes in panels[-1]:
            axes.set_xticks(range(len(TRUNKS)), list(TRUNKS.values()), size="small")
        panels[-1, 0].set_xlabel("what stood on the trunk when it was trained", loc="left")
        heads = {f"read by a {'full head' if head == 'full head' else 'head of rank r'}": LOOKS[head] for head in LOOKS}
        trained = {
            "as trained, less the full model": {"color": "0.35", "marker": "D", "linestyle": "", "fillstyle": "none"}
        }
        legend(figure, handles(heads, markersize=6, linewidth=1.4) + handles(trained, markersize=6), columns=3)
        seeds = int(table.n.max())
        figure.suptitle(
            f"What trunk and head of rank r cost over a full head on its own trunk: mean of {seeds} seeds, 95 % by "
            f"Student's t. TTO against {named(truth)}",
            x=0.01, ha="left", size="medium", wrap=True,
        )  # fmt: skip
    return figure


def _panel(axes: Axes, part: pd.DataFrame) -> None:
    axes.axhline(0, color="0.35", linestyle=":", linewidth=1.2)
    places = list(TRUNKS)
    lines: dict[str, list[tuple[float, float]]] = {"full head": [(APART["full head"], 0.0)], "rank r": []}
    for kinds, filled in ((RETRAINED, True), (TRAINED, False)):
        for kind, (trunk, head) in kinds.items():
            if kind in part.index:
                row = part.loc[kind]
                x = places.index(trunk) + APART[head] * (1 if filled else 2)
                look = {**LOOKS[head], "linestyle": "", "fillstyle": "full" if filled else "none"}
                beyond = [[row.value - row.low], [row.high - row.value]]
                axes.errorbar([x], [row.value], yerr=beyond, markersize=6, linewidth=1.2, capsize=2.5, **look)
                if filled:
                    lines[head].append((x, row.value))
    axes.plot(*lines["full head"][0], markersize=6, **{**LOOKS["full head"], "linestyle": ""})
    for head, points in lines.items():
        axes.plot(*zip(*points, strict=True), linewidth=1.2, **{**LOOKS[head], "marker": ""})
    axes.grid(axis="y")
    axes.set_xlim(-0.5, len(places) - 0.5)
