"""What each way of imposing a rank costs, paired by seed: differences from the full model that share its seed."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit  # scipy.stats takes half a second to import

from oversmoothing.imposed_rank.table import MEASURES, WAYS
from oversmoothing.page import Cell, Page, Section, Value
from oversmoothing.statistics import LEVEL

SLOWDOWN = "slowdown"
PUBLISHED = ("mean", "low", "high")


def paired(differences: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval by Student's t; an interval of NaN for fewer than two differences."""
    values = np.asarray(differences, dtype=float)
    mean = float(values.mean())
    if len(values) < 2:
        return mean, math.nan, math.nan
    half = float(-stdtrit(len(values) - 1, LEVEL) * values.std(ddof=1) / math.sqrt(len(values)))
    return mean, mean - half, mean + half


def steps_to(history: pd.DataFrame, loss: float) -> float:
    """Return the step at which a training first has a validation loss as low as `loss`; inf if it never has.

    `history` has ``step`` and ``validation_loss``; between two evaluations the loss is taken to fall in a line.
    """
    step, losses = history.step.to_numpy(float), history.validation_loss.to_numpy(float)
    reached = np.flatnonzero(losses <= loss)
    if not len(reached):
        return math.inf
    i = reached[0]
    if i == 0:
        return float(step[0])
    share = (losses[i - 1] - loss) / (losses[i - 1] - losses[i])
    return float(step[i - 1] + share * (step[i] - step[i - 1]))


def slowdown(history: pd.DataFrame, full: pd.DataFrame) -> float:
    """Return how many times more steps a training took to its lowest loss than the full model took to that loss.

    Infinite if the full model has that loss from the start; 0 if it never has, because the training ends below it.
    """
    lowest = float(history.validation_loss.min())
    reached = steps_to(full, lowest)
    if math.isinf(reached):
        return 0.0
    return steps_to(history, lowest) / reached if reached else math.inf


def paired_table(table: pd.DataFrame, histories: Mapping[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """Cost of each way and rank over the full model of the same seed, over all seeds.

    Parameters
    ----------
    table : DataFrame
        As `imposed_rank.table.imposed_rank_table` returns it. The full model of a seed is the member learned from
        scratch of highest rank.
    histories : mapping
        By model, of those trained from the start: ``step``, ``validation_loss``.
    published : DataFrame
        ``way``, ``rank``, ``measure``, ``mean``, ``low``, ``high``.

    Returns
    -------
    DataFrame
        ``way``, ``rank``, ``truth``, ``measure``, ``unit``, ``n`` (seeds), ``mean``, ``low``, ``high`` (95 %, Student's
        t) and the published three. The measure `SLOWDOWN` is a geometric mean; it is missing where a seed has none.
    """
    family = table[table.way == WAYS["family"]]
    full = family[family["rank"] == family["rank"].max()]
    names = full.drop_duplicates("seed").set_index("seed").model
    others = table[~table.model.isin(names)]
    rows = []
    keys = ["way", "rank", "truth", "measure", "unit"]
    for group, own in others[others.measure.isin(MEASURES)].groupby(keys, sort=False, dropna=False):
        facts = dict(zip(keys, group, strict=True))
        alike = full[(full.measure == facts["measure"]) & (full.truth.fillna("") == own.truth.fillna("").iloc[0])]
        differences = own["mean"].to_numpy() - own.seed.map(alike.set_index("seed")["mean"]).to_numpy()
        rows.append(facts | dict(zip(PUBLISHED, paired(differences), strict=True)) | {"n": len(own)})
    for (way, rank), own in others[others.model.isin(list(histories))].groupby(["way", "rank"], sort=False):
        models = own.drop_duplicates("model")
        ratios = [slowdown(histories[m], histories[names[s]]) for m, s in zip(models.model, models.seed, strict=True)]
        if all(0 < ratio < math.inf for ratio in ratios):
            mean, low, high = map(math.exp, paired(np.log(ratios).tolist()))
            facts = {"way": way, "rank": rank, "truth": None, "measure": SLOWDOWN, "unit": "times the steps"}
            rows.append({**facts, "mean": mean, "low": low, "high": high, "n": len(ratios)})
    found = pd.DataFrame(rows)
    columns = [*keys, "n", *PUBLISHED]
    named = published.rename(columns={name: f"published_{name}" for name in PUBLISHED})
    return found[columns].merge(named, on=["way", "rank", "measure"], how="left")


def paired_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a section per truth and a row per way and rank."""
    sections = [
        Section(f"Against `{truth}`", _rows(table[table.truth.isna() | (table.truth == truth)]))
        for truth in table.truth.dropna().unique()
    ]
    legend = [
        f"Mean difference from the full model of the same seed, over {int(table.n.max())} seeds [95 % interval by "
        "Student's t]. Above 0 is worse, but for accuracy",
        "Steps to equal loss: how many times the steps that the full model takes to the lowest loss that the model "
        "reaches; a geometric mean, and - where some model ends below all that the full model reaches. The learning "
        "rate falls until the end, so that a full model trained for fewer steps would reach that loss even earlier",
    ]
    if table.published_mean.notna().any():
        legend.append(
            "Published: Murugan (2026), bytes of WikiText-2, 4 layers of width 32; compare trends, not levels"
        )
    return Page(title, sections, legend)


def _rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    rows = []
    for (rank, way), own in table.groupby(["rank", "way"], sort=False):
        row: dict[str, Cell] = {"rank": str(rank), "way": str(way)}
        for found in own.to_dict("records"):
            label = "steps to equal loss" if found["measure"] == SLOWDOWN else MEASURES[found["measure"]][0]
            row[label] = Value(found["mean"], None, found["low"], found["high"])
            if table.published_mean[table.measure == found["measure"]].notna().any():
                row[f"published {label}"] = Value(
                    found["published_mean"], None, found["published_low"], found["published_high"]
                )
        rows.append(row)
    return rows
