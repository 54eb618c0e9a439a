"""What each way of imposing a rank costs, paired by seed: differences from the full model that share its seed."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled
from oversmoothing.tables.record import over_seeds, record
from oversmoothing.tables.story import legend
from studies.imposed_rank.table import MEASURES

TBAT = METRICS["tbat"]
COMPARED = {**MEASURES, "tbat": (TBAT.label, TBAT.unit, TBAT.better)}
AT_LOSS = {f"{name}_at_loss": COMPARED[name] for name in (*AGAINST_TRUTHS, "tbat")}
SLOWDOWN = "slowdown"
LESS = " less "  # between two kinds, of a difference between them at the same rank
BETWEEN = {
    "plain less backward": "plain head from scratch, less gradient alone",
    "matched less backward": "plain head from scratch, matched start, less gradient alone",
    "plain less matched": "plain head from scratch, less the same with a matched start",
    "plain less family": "plain head from scratch, less one with LayerNorm",
    "plain less retrained": "plain head from scratch, less retrained",
}
BASE = "_base"  # at the end of a measure: the value of the full model
GROUP = ["kind", "rank", "truth", "measure", "unit"]


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
        ``kind``, ``rank``, ``truth`` ("" for none), ``measure``, ``unit``, ``model``, ``seed``, ``difference``, and
        ``base``, the value of the full model. Measures: those of `COMPARED`, at the end of training; those of
        `AT_LOSS`, less what the full model has where its loss comes down to that of this one, for models run over the
        windows that `along` is of; and `SLOWDOWN`, a ratio in place of a difference (see `slowdown`).
    """
    learned = table[table.kind == "family"]
    names = learned[learned["rank"] == learned["rank"].max()].drop_duplicates("seed").set_index("seed").model
    table = table[table.measure.isin(COMPARED)].assign(truth=table.truth.fillna(""))
    value = table.set_index(["model", "measure", "truth"]).value
    curves = {
        key: curve.set_index("step").sort_index()
        for key, curve in along.groupby(["model", "measure", along.truth.fillna("")])
    }
    rows = []
    for row in table[~table.model.isin(names)].to_dict("records"):
        full, measure, truth = names[row["seed"]], row["measure"], row["truth"]
        facts = {key: row[key] for key in ("kind", "rank", "truth", "unit", "model", "seed", "arm")}
        base = value[full, measure, truth]
        rows.append({**facts, "measure": measure, "difference": row["value"] - base, "base": base})
        curve = curves.get((full, measure, truth))
        if f"{measure}_at_loss" in AT_LOSS and curve is not None and curve.n.iloc[0] == row["n"]:
            losses = curves[full, "loss", ""].value[curve.index]
            equal = at_loss(losses.tolist(), curve.value.tolist(), value[row["model"], "loss", ""])
            rows.append({**facts, "measure": f"{measure}_at_loss", "difference": row["value"] - equal, "base": equal})
        if measure == "loss" and row["model"] in histories:
            ratio = slowdown(histories[row["model"]], histories[full])
            facts = {**facts, "unit": "times the steps", "measure": SLOWDOWN}
            rows.append({**facts, "difference": ratio, "base": 1.0})
    return pd.DataFrame(rows)


def as_record(differences: pd.DataFrame) -> pd.DataFrame:
    """Record of what `per_seed` returns, with the base of each measure as a measure."""
    values = differences.rename(columns={"difference": "value"}).drop(columns="base")
    bases = values.assign(measure=values.measure + BASE, value=differences.base)
    table = pd.concat([values, bases])
    return record(table.assign(truth=table.truth.where(table.truth != "")))


def from_record(table: pd.DataFrame) -> pd.DataFrame:
    """What `per_seed` returned, from its record."""
    keys = ["kind", "rank", "truth", "measure", "unit", "model", "seed"]
    table = table[[*keys, "value"]].assign(truth=table.truth.fillna(""))
    of_full = table.measure.str.endswith(BASE)
    bases = table[of_full].assign(measure=table.measure.str.removesuffix(BASE)).rename(columns={"value": "base"})
    return table[~of_full].rename(columns={"value": "difference"}).merge(bases, on=keys, how="left")


def paired_table(differences: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Record of the cost of each way and rank over the full model of the same seed, over all seeds.

    ``n`` counts seeds, intervals are 95 % by Student's t; the mean value of the full models is called ``loss_base``.
    `SLOWDOWN` is a geometric mean. A measure at equal loss is missing where a seed has none (the model ends below all
    that the full model reaches). The kinds of `BETWEEN` follow the others. `published` calls kinds by their titles.
    """
    keys = ["rank", "truth", "measure", "unit", "seed"]
    parts = [differences]
    for name in BETWEEN:
        a, b = (differences[differences.kind == kind].set_index(keys).difference for kind in name.split(LESS))
        common = (a - b).dropna().rename("difference").reset_index()
        parts.append(common[~common.measure.isin([SLOWDOWN, *AT_LOSS])].assign(kind=name, base=math.nan))
    ways = {title: kind for kind, title in {**TITLES, **BETWEEN}.items()}
    named = published.assign(kind=published.way.map(ways)).set_index(["kind", "rank", "measure"])
    rows = []
    for group, alike in pd.concat(parts, ignore_index=True).groupby(GROUP, sort=False):
        facts = dict(zip(GROUP, group, strict=True))
        if facts["measure"] == SLOWDOWN:
            if not all(0 < ratio < math.inf for ratio in alike.difference):
                continue  # a training that has its lowest loss before the first step
            logarithms = over_seeds(np.log(alike.difference))
            mean = {name: math.exp(logarithms[name]) for name in ("value", "low", "high")} | {"n": len(alike)}
        elif alike.difference.isna().any():
            continue
        else:
            mean = over_seeds(alike.difference)
        facts["truth"] = facts["truth"] or None
        row = facts | mean
        if (place := (facts["kind"], facts["rank"], facts["measure"])) in named.index:
            mean, low, high = named.loc[place, ["mean", "low", "high"]]
            row |= {"published": mean, "published_low": low, "published_high": high}
        rows.append(row)
        if alike.base.notna().all():
            rows.append({**facts, "measure": facts["measure"] + BASE, "value": alike.base.mean(), "n": len(alike)})
    return record(rows)


def paired_page(table: pd.DataFrame, title: str) -> Page:
    """Page with two sections per truth, at the end of training and at equal loss, and a row per rank and way."""
    table = table.assign(way=table.kind.map({**TITLES, **BETWEEN}))
    sections = []
    for truth in table.truth.dropna().unique():
        against = table[table.truth.isna() | (table.truth == truth)]
        sections.append(Section(f"At the end of training, against `{truth}`", _rows(against, [*COMPARED, SLOWDOWN])))
        if against.measure.isin(AT_LOSS).any():
            sections.append(Section(f"At equal loss, against `{truth}`", _rows(against, [*AT_LOSS])))
    published = table.published.notna().any()
    words = legend(__file__, "paired_ranks", seeds=int(table.n.max()), published=published)
    better = directions(COMPARED[name][2] for name in COMPARED if (table.measure == name).any())
    return Page(title, sections, [*words, better])


def _rows(table: pd.DataFrame, measures: Sequence[str]) -> list[dict[str, Cell]]:
    rows = []
    for (rank, way), alike in table[table.measure.isin(measures)].groupby(["rank", "way"], sort=True):
        row: dict[str, Cell] = {"rank": str(rank), "way": str(way)}
        for cost in sorted(alike.to_dict("records"), key=lambda cost: measures.index(cost["measure"])):
            name, _, better = {**COMPARED, **AT_LOSS, SLOWDOWN: ("steps to equal loss", "", "")}[cost["measure"]]
            row[labelled(name, better)] = Value(cost["value"], None, cost["low"], cost["high"])
            if table.published[table.measure == cost["measure"]].notna().any():
                cell = Value(cost["published"], None, cost["published_low"], cost["published_high"])
                row[f"published {name}"] = cell
        rows.append(row)
    return rows
