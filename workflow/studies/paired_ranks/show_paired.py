"""The tables and the figure of what each way of imposing a rank costs, paired by seed."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.store.layout import read_csv, write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import (
    Look,
    handles,
    kind_look,
    legend,
    named,
    rank_axis,
    style,
    titled,
    whiskers,
    write_figure,
)
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import FACTS, chosen, numbers, read_record, record, written
from studies.paired_ranks.paired import EQUAL_LOSS, FULL, SLOWDOWN, TBAT, paired_page, paired_table, per_seed

TITLE = "What each way of imposing a rank costs over the full model, paired by seed."
LABELS = {
    "family": "on both, with a LayerNorm (the thesis)",
    "plain": "on both: head W = A B from scratch",
    "matched": "on both: the same, started as large as a full head",
    "backward": "on the gradient alone (Murugan 2026)",
    "retrained": "on the logits alone: head W = A B retrained",
    "normed": "on the logits alone: retrained with LayerNorm",
}
PANELS = {
    ("loss", FULL): "Loss above the full head's (nats)",
    (SLOWDOWN, None): "Steps to equal loss (times the full head's)",
    ("tto", FULL): "TTO above the full head's",
    ("tto", EQUAL_LOSS): "TTO above the full head's at equal loss",
}
APART = 0.05  # octaves between the points of two ways at a rank


def main(job: Job) -> None:
    """Read the imposed-rank table, TBAT, histories and the full models' snapshots; write tables and figure."""
    settings = job.params.settings
    histories = {Path(path).parent.name: read_table(path).to_pandas() for path in job.input.histories}
    along = [read_table(path).to_pandas().assign(model=Path(path).stem) for path in job.input.along]
    table = read_record(job.input.table)
    models = table.drop_duplicates("model").set_index("model")[list(FACTS)]
    rows = []
    for path in map(Path, job.input.tbat):
        summary = summarise_scores(path, ["pure"], settings["resamples"], settings["seed"])[None, "pure"]
        known = {**models.loc[path.stem], "model": path.stem}
        rows.append({**known, "measure": "tbat", "unit": TBAT.unit, **numbers(summary)})
    table = pd.concat([table, record(rows)], ignore_index=True)
    by_seed = per_seed(table, histories, pd.concat(along, ignore_index=True))
    write_csv(written(by_seed, Path(job.output.seeds).stem), job.output.seeds)
    paired = paired_table(by_seed, read_csv(job.input.published))
    write_record(job.output, paired, paired_page(paired, TITLE))
    figure = draw(read_record(job.output.csv), settings["truth"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw each measure against rank, a line for each kind of `LABELS`; whiskers are 95 % intervals over seeds."""
    table = table[(table.truth.isna() | (table.truth == truth)) & (table.less.notna() | (table.measure == SLOWDOWN))]
    drawn = {kind: kind_look(kind) for kind in LABELS if (table.kind == kind).any()}
    table = table[table.kind.isin(drawn)]
    with style():
        figure = Figure(figsize=(10, 7.4))
        panels = figure.subplots(2, 2)
        panels[1, 1].sharey(panels[1, 0])
        apart = [(i - (len(drawn) - 1) / 2) * APART for i in range(len(drawn))]
        for axes, ((measure, less), title) in zip(panels.flat, PANELS.items(), strict=True):
            part = chosen(table, measure=measure, less=less)
            axes.axhline(1 if measure == SLOWDOWN else 0, color="0.35", linestyle=":", linewidth=1.2)
            for (kind, look), octaves in zip(drawn.items(), apart, strict=True):
                _points(axes, part[part.kind == kind].sort_values("rank"), look, octaves)
            axes.set_title(title, size="medium")
            axes.grid(axis="y")
            if len(part):
                rank_axis(axes, sorted(part["rank"].unique()), "rank")
            if measure == SLOWDOWN:
                axes.set_yscale("log", base=2)
                axes.yaxis.set_major_formatter("{x:g}")
        named_looks = {LABELS[kind]: look for kind, look in drawn.items()}
        legend(figure, handles(named_looks, markersize=6, linewidth=1.2), columns=2)
        seeds = int(table.n.max())
        titled(
            figure,
            "Does a rank cost more in the logits or in the gradient?",
            f"Each less the full head of its seed, mean of {seeds} seeds; whiskers: 95 % (Student's t); TTO against "
            f"{named(truth)}; lower is better.",
        )
    return figure


def _points(axes: Axes, part: pd.DataFrame, look: Look, octaves: float) -> None:
    if part.empty:
        return
    ranks = part["rank"] * 2**octaves
    axes.errorbar(ranks, part.value, yerr=whiskers(part), markersize=6, linewidth=1.2, capsize=2.5, **look)


if __name__ == "__main__":
    run(main)
