"""What each way of imposing a rank costs, paired by seed: differences from the full model that share its seed."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.contrasts import means, paired
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import PUBLISHED, Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend
from studies.imposed_rank.table import MEASURES

TBAT = METRICS["tbat"]
COMPARED = {**MEASURES, "tbat": (TBAT.label, TBAT.unit, TBAT.better)}
AT_LOSS = (*AGAINST_TRUTHS, "tbat")
SLOWDOWN = "slowdown"
FULL, EQUAL_LOSS = (
    "full",
    "equal loss",
)  # what differences are from: the full model of the seed, at the end or on its way
BETWEEN = {  # differences between two kinds at the same rank
    ("plain", "backward"): "plain head from scratch, less gradient alone",
    ("matched", "backward"): "plain head from scratch, matched start, less gradient alone",
    ("plain", "matched"): "plain head from scratch, less the same with a matched start",
    ("plain", "family"): "plain head from scratch, less one with LayerNorm",
    ("plain", "retrained"): "plain head from scratch, less retrained",
}
WAYS = {(kind, FULL): title for kind, title in TITLES.items()} | BETWEEN
PAIR = ["seed", "truth", "measure"]  # what a model and the full one share


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


def per_seed(table: pd.DataFrame, histories: Mapping[str, pd.DataFrame], along: pd.DataFrame) -> pd.DataFrame:
    """Difference of every model from the full model of its seed, the member learned from scratch of highest rank.

    `table` is as `imposed_rank_table` returns it, with further rows of the measure ``tbat``; `histories` are of models
    trained from the start; `along` holds the snapshots of the full models, with ``model``.

    Returns
    -------
    DataFrame
        Record by model: of the full models what they show; of others, at the end of training, that less `FULL`; of
        `AT_LOSS`, of models run over the windows that `along` is of, that less what the full model has where its loss
        comes down to that of this one, `EQUAL_LOSS`; and `SLOWDOWN`, a ratio (see `slowdown`).
    """
    learned = chosen(table, kind="family")
    names = learned[learned["rank"] == learned["rank"].max()].drop_duplicates("seed").set_index("seed").model
    shown = table[table.measure.isin(COMPARED)]
    values = shown[["kind", "rank", "arm", "model", *PAIR, "unit", "value"]]
    of_full = shown.model.isin(names)
    losses = chosen(table, measure="loss").set_index("model").value
    curves = {
        key: curve.set_index("step").sort_index()
        for key, curve in along.groupby(["model", "measure", along.truth.fillna("")])
    }
    rows = []
    for row, n in zip(values[~of_full].to_dict("records"), shown.n[~of_full], strict=True):
        full, measure = names[row["seed"]], row["measure"]
        curve = curves.get((full, measure, "" if pd.isna(row["truth"]) else row["truth"]))
        if measure in AT_LOSS and curve is not None and curve.n.iloc[0] == n:
            falling = curves[full, "loss", ""].value[curve.index].tolist()
            equal = at_loss(falling, curve.value.tolist(), losses[row["model"]])
            rows.append({**row, "less": EQUAL_LOSS, "value": row["value"] - equal})
        if measure == "loss" and row["model"] in histories:
            ratio = slowdown(histories[row["model"]], histories[full])
            rows.append({**row, "measure": SLOWDOWN, "unit": "times the steps", "value": ratio})
    ends = paired(values[~of_full], values.loc[of_full, [*PAIR, "value"]], FULL)
    return record(pd.concat([values[of_full], ends, pd.DataFrame(rows)]))


def paired_table(by_seed: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Record of what `per_seed` returns, over all seeds, and of the differences of `BETWEEN`.

    ``n`` counts seeds, intervals are 95 % by Student's t. `SLOWDOWN` is a geometric mean. A measure at equal loss is
    missing where a seed has none (the model ends below all that the full model reaches). `published` calls what is
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
    """Page with two sections per truth, at the end of training and at equal loss, and a row per rank and way."""
    places = zip(table.kind, table.less.replace(EQUAL_LOSS, FULL).fillna(FULL), strict=True)
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
        ends = against[against.less != EQUAL_LOSS]
        sections.append(Section(f"At the end of training, against `{truth}`", pivot(ends, ["rank", "way"], columns)))
        if rows := pivot(chosen(against, less=EQUAL_LOSS), ["rank", "way"], columns):
            sections.append(Section(f"At equal loss, against `{truth}`", rows))
    words = legend(__file__, "paired_ranks", seeds=int(table.n.max()), published=table.published.notna().any())
    better = directions(COMPARED[name][2] for name in COMPARED if (table.measure == name).any())
    return Page(title, sections, [*words, better])
