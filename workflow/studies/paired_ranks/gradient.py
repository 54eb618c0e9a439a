"""How much of the gradient of the logits reaches the trunk, along training, for each way of imposing a rank."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.models.logit_gradient import BATCH, NUMERICAL
from oversmoothing.store.parquet import read_table
from oversmoothing.tables import story
from oversmoothing.tables.contrasts import means
from oversmoothing.tables.figures.style import (
    handles,
    kind_look,
    legend,
    rank_look,
    step_axis,
    style,
    titled,
    write_figure,
)
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import Page, Section, pivot
from oversmoothing.tables.record import read_record
from studies.along_training.table import along_training_table

SHARES = {
    "gradient_share": "share of the squared norm",
    "gradient_cosine": "cosine",
    "gradient_rank": "numerical rank",
}
KEYS = ["kind", "model", "rank", "seed"]
SETTLED = 64  # steps from which the mean along training is taken: before them the head is close to its random start
TITLE = "How much of the gradient of the logits reaches the trunk."


def main(job: Job) -> None:
    """Read the measures of all snapshots; write the table and the figure in all formats."""
    settings = job.params.settings
    measured = {Path(path).stem: read_table(path).to_pandas() for path in job.input}
    table = gradient_table(measured, settings["models"], settings["unit"])
    write_record(job.output, table, gradient_page(table, TITLE))
    figure = draw(read_record(job.output.csv))
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def gradient_table(
    measured: Mapping[str, pd.DataFrame], models: Sequence[Mapping[str, Any]], unit: str = "byte"
) -> pd.DataFrame:
    """Return shares of the gradient and losses at all snapshots: rows of the table along training, but of all arms."""
    table = along_training_table([measured[model["model"]] for model in models], models, unit)
    return table[table.measure.isin([*SHARES, "loss"])].reset_index(drop=True)


def mean_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model: its facts, final ``loss`` and ``step``, and mean ``share`` from step `SETTLED` on.

    Snapshots are not evenly spaced; the mean is over steps, with straight lines between two of them.
    """
    rows = []
    for keys, model in table.groupby(KEYS, sort=False):
        share = model[model.measure == "gradient_share"].set_index("step").value.sort_index()
        loss = model[model.measure == "loss"].set_index("step").value.sort_index()
        late = share[share.index >= min(SETTLED, share.index[-1])]
        area = np.trapezoid(late, late.index) if len(late) > 1 else late.iloc[0]
        mean = float(area / max(late.index[-1] - late.index[0], 1))
        rows.append({**dict(zip(KEYS, keys, strict=True)), "loss": loss.iloc[-1], "share": mean})
    return pd.DataFrame(rows)


def gradient_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a row per way and rank: means over seeds at the start, on the way and at the end."""
    last = table.groupby("model").step.transform("max")
    ends = table[(table.step == 0) | (table.step == last)]
    ends = ends.assign(when=np.where(ends.step == 0, "untrained", "trained"))
    whole = mean_shares(table).melt(KEYS, ["share", "loss"], var_name="measure").assign(when="")
    by_seed = pd.concat([ends, whole])
    by_seed = by_seed.assign(way=by_seed.kind.map(TITLES)).sort_values(["rank", "way"], kind="stable")
    columns = {f"{SHARES['gradient_share']}, untrained": {"measure": "gradient_share", "when": "untrained"}}
    columns |= {f"{name}, trained": {"measure": measure, "when": "trained"} for measure, name in SHARES.items()}
    columns |= {"share, mean": {"measure": "share"}, "loss (nats)": {"measure": "loss", "when": ""}}
    rows = pivot(means(by_seed[["rank", "way", "when", "measure", "seed", "value"]]), ["rank", "way"], columns)
    fixed = {"settled": SETTLED, "numerical": f"{NUMERICAL:.0%}", "batch": BATCH}
    return Page(title, [Section("", rows)], story.legend(__file__, "gradient", seeds=table.seed.nunique(), **fixed))


def draw(table: pd.DataFrame) -> Figure:
    """Draw the share of the gradient against steps, a line per way and rank, and the final loss against its mean.

    Colours are ranks, line styles and markers ways; a line is the mean over seeds, a point one model.
    """
    share = table[table.measure == "gradient_share"]
    models = mean_shares(table)
    with style():
        figure = Figure(figsize=(10, 4.6))
        left, right = figure.subplots(1, 2)
        for (kind, rank), alike in share.groupby(["kind", "rank"], sort=False):
            line = alike.groupby("step").value.mean()
            look = {**rank_look(int(rank)), **{key: kind_look(kind)[key] for key in ("linestyle", "marker")}}
            left.plot(line.index, line, markersize=3.5, linewidth=1.3, **look)
            ends = models[(models.kind == kind) & (models["rank"] == rank)]
            right.plot(ends["share"], ends.loss, markersize=6, **{**look, "linestyle": ""})
        step_axis(left, int(share.step.max()))
        left.set_ylim(0, None)
        left.set_title("Share of the logits' gradient, squared, that reaches the trunk", size="medium")
        right.set_title("Final loss against that share", size="medium")
        right.set_xlabel(f"share, mean from step {SETTLED} on")
        right.set_ylabel(f"loss ({table.unit[table.measure == 'loss'].iloc[0]})")
        for axes in (left, right):
            axes.grid(axis="y")
        titled(
            figure,
            "How much of the gradient reaches the trunk, and does the loss follow it?",
            "Lines: means over seeds.",
        )
        ways = {TITLES[kind]: {**kind_look(kind), "color": "0.3"} for kind in share.kind.unique()}
        ranks = {f"rank {rank}": {"color": rank_look(int(rank))["color"]} for rank in sorted(share["rank"].unique())}
        entries = handles(ways, markersize=6, linewidth=1.3) + handles(ranks, linewidth=4)
        legend(figure, entries, columns=3)
    return figure


if __name__ == "__main__":
    run(main)
