"""What each way of imposing a rank costs, paired by seed: differences from the full model that share its seed."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.scores.sums import summarise_scores
from oversmoothing.store.layout import read_csv, write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables import story
from oversmoothing.tables.contrasts import means, paired
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
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import PUBLISHED, Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import FACTS, chosen, numbers, read_record, record, written
from studies.imposed_rank.table import MEASURES

TBAT = METRICS["tbat"]
COMPARED = {**MEASURES, "tbat": (TBAT.label, TBAT.unit, TBAT.better)}
SLOWDOWN = "slowdown"
FULL = "full"  # of differences: from the full model of the seed
BETWEEN = {  # differences between two kinds at the same rank
    ("plain", "backward"): "plain head from scratch, less gradient alone",
    ("matched", "backward"): "plain head from scratch, matched start, less gradient alone",
    ("plain", "matched"): "plain head from scratch, less the same with a matched start",
    ("plain", "family"): "plain head from scratch, less one with LayerNorm",
    ("plain", "retrained"): "plain head from scratch, less retrained",
}
WAYS = {(kind, FULL): title for kind, title in TITLES.items()} | BETWEEN
PAIR = ["seed", "truth", "measure"]  # what a model and the full one share
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
}
APART = 0.05  # octaves between the points of two ways at a rank


def main(job: Job) -> None:
    """Read the imposed-rank table, TBAT and histories; write tables and figure."""
    settings = job.params.settings
    histories = {Path(path).parent.name: read_table(path).to_pandas() for path in job.input.histories}
    table = read_record(job.input.table)
    models = table.drop_duplicates("model").set_index("model")[list(FACTS)]
    rows = []
    for path in map(Path, job.input.tbat):
        summary = summarise_scores(path, ["pure"], settings["resamples"], settings["seed"])[None, "pure"]
        known = {**models.loc[path.stem], "model": path.stem}
        rows.append({**known, "measure": "tbat", "unit": TBAT.unit, **numbers(summary)})
    table = pd.concat([table, record(rows)], ignore_index=True)
    by_seed = per_seed(table, histories)
    write_csv(written(by_seed, Path(job.output.seeds).stem), job.output.seeds)
    paired = paired_table(by_seed, read_csv(job.input.published))
    write_record(job.output, paired, paired_page(paired, TITLE))
    figure = draw(read_record(job.output.csv), settings["truth"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


def steps_to(history: pd.DataFrame, loss: float) -> float:
    """Return the step at which a training first has a validation loss as low as `loss`; inf if it never has.

    `history` has ``step`` and ``validation_loss``; between two evaluations the loss is taken to fall in a line.
    """
    step, losses = history.step.to_numpy(float), history.validation_loss.to_numpy(float)
    if not (losses <= loss).any():
        return math.inf
    return float(step[0]) if losses[0] <= loss else at_loss(losses.tolist(), step.tolist(), loss)


def slowdown(history: pd.DataFrame, full: pd.DataFrame) -> float:
    """Return how many times the full model's steps a training took to the lowest loss that both reach.

    Infinite if the full model has that loss from the start. A training that ends below the full model is measured at
    the lowest loss of the full model, and one that ends above it at its own, so that the ratio is never censored.
    """
    target = max(float(training.validation_loss.min()) for training in (history, full))
    reached = steps_to(full, target)
    return steps_to(history, target) / reached if reached else math.inf


def per_seed(table: pd.DataFrame, histories: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the difference of every model from the full model of its seed.

    The full model is the member learned from scratch of highest rank.

    `table` is as `imposed_rank_table` returns it, with further rows of the measure ``tbat``; `histories` are of models
    trained from the start. The record has, of the full models, what they show; of others that less `FULL`, and
    `SLOWDOWN`, a ratio (see `slowdown`).
    """
    learned = chosen(table, kind="family")
    names = learned[learned["rank"] == learned["rank"].max()].drop_duplicates("seed").set_index("seed").model
    shown = table[table.measure.isin(COMPARED)]
    values = shown[["kind", "rank", "arm", "model", *PAIR, "unit", "value"]]
    of_full = shown.model.isin(names)
    rows = []
    for row in chosen(values[~of_full], measure="loss").to_dict("records"):
        if row["model"] in histories:
            ratio = slowdown(histories[row["model"]], histories[names[row["seed"]]])
            rows.append({**row, "measure": SLOWDOWN, "unit": "times the steps", "value": ratio})
    ends = paired(values[~of_full], values.loc[of_full, [*PAIR, "value"]], FULL)
    return record(pd.concat([values[of_full], ends, pd.DataFrame(rows)]))


def paired_table(by_seed: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the record of what `per_seed` returns, over all seeds, and of the differences of `BETWEEN`.

    ``n`` counts seeds, intervals are 95 % by Student's t. `SLOWDOWN` is a geometric mean. `published` calls what is
    compared by the titles of `WAYS`.
    """
    own = by_seed[["kind", "rank", "less", *PAIR, "unit", "value"]]
    slow, ends = own.measure == SLOWDOWN, chosen(own, less=FULL)
    between = [
        paired(chosen(ends, kind=one), chosen(ends, kind=other)[["rank", *PAIR, "value"]], other)
        for one, other in BETWEEN
    ]
    ratios = own[slow].assign(value=np.log(own.value[slow].where((own.value > 0) & (own.value < math.inf))))
    geometric = means(ratios).drop(columns="sd", errors="ignore")
    geometric = geometric.assign(**np.exp(geometric.filter(["value", "low", "high"])))
    places = {title: place for place, title in WAYS.items()}
    printed = published.rename(columns={"mean": "published", "low": "published_low", "high": "published_high"})
    kinds = pd.DataFrame(printed.way.map(places).tolist(), printed.index, columns=["kind", "less"])
    printed = printed.drop(columns="way").join(kinds)
    rows = pd.concat([means(own[~slow], *between), geometric])
    return record(rows.merge(printed, how="left", on=["kind", "less", "rank", "measure"]))


def paired_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section per truth, and a row per rank and way."""
    places = zip(table.kind, table.less.fillna(FULL), strict=True)
    shown = table.assign(way=[WAYS[place] for place in places], source="run")
    shown = shown[shown.less.notna() | (shown.measure == SLOWDOWN)]
    printed = shown.assign(value=table.published, low=table.published_low, high=table.published_high, source=PUBLISHED)
    shown = pd.concat([shown, printed.dropna(subset="value")]).sort_values(["rank", "way"], kind="stable")
    columns: dict[str, dict[str, Any]] = {}
    for measure, (name, _, better) in {**COMPARED, SLOWDOWN: ("steps to equal loss", "", "")}.items():
        columns[labelled(name, better)] = {"measure": measure, "source": "run"}
        columns[f"{PUBLISHED} {name}"] = {"measure": measure, "source": PUBLISHED}
    sections = []
    for truth in table.truth.dropna().unique():
        against = shown[shown.truth.isna() | (shown.truth == truth)]
        sections.append(Section(f"Against `{truth}`", pivot(against, ["rank", "way"], columns)))
    words = story.legend(__file__, "paired_ranks", seeds=int(table.n.max()), published=table.published.notna().any())
    better = directions(COMPARED[name][2] for name in COMPARED if (table.measure == name).any())
    return Page(title, sections, [*words, better])


def draw(table: pd.DataFrame, truth: str) -> Figure:
    """Draw each measure against rank, a line for each kind of `LABELS`; whiskers are 95 % intervals over seeds."""
    table = table[(table.truth.isna() | (table.truth == truth)) & (table.less.notna() | (table.measure == SLOWDOWN))]
    drawn = {kind: kind_look(kind) for kind in LABELS if (table.kind == kind).any()}
    table = table[table.kind.isin(drawn)]
    with style():
        figure = Figure(figsize=(13, 4.4))
        panels = figure.subplots(1, len(PANELS))
        apart = [(i - (len(drawn) - 1) / 2) * APART for i in range(len(drawn))]
        for axes, ((measure, less), title) in zip(panels, PANELS.items(), strict=True):
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
