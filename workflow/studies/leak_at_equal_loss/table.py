"""Table of the family at equal loss: what a rank shows less what a full head of that loss shows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.numerics.statistics import holm
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.contrasts import means, paired
from oversmoothing.tables.losses import METRICS as LOSSES
from oversmoothing.tables.page import Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend
from studies.sample_quality.metrics import MEASURES

FAMILY, SHORTER = "family", "shorter"  # the kinds of the ranks, and of the controls of other steps
BY_CONTEXT = "context"  # a kind of several controls, so that a rank's loss lies between two
TITLE = "The family at equal loss."
LOSS = "validation_loss"
ARM, KEYS = ["kind", "rank", "arm", "step"], ["truth", "measure", "seed", "value"]
EQUAL = {
    "loss": "equal loss on the windows",
    LOSS: "equal loss",
}  # `less`, by the loss that is equal; the main one first
SHORT_CONTEXT = ", shorter context"  # at the end of a `less`: the control sees fewer bytes, after as many steps
CORRELATION = "_correlation"  # at the end of a metric: Pearson's r with validation loss, over the ranks of a seed
OF_SAMPLES = [name for name in MEASURES if name != "loop"]


def equal_loss_table(values: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Record of levels, and of differences at equal steps and at equal loss: means over ``n`` seeds.

    `values` has ``model``, ``truth`` ("" of what needs none), ``measure`` and ``value``; the losses are `EQUAL`, and
    `models` is what `plan.compared` returns. Intervals are 95 %, by Student's t. Differences are paired by seed, and
    ``less`` names what is subtracted: the highest rank (``rank 288``), or what it shows where it has the same loss,
    interpolated for each seed between two numbers of steps. There is no row where a seed has a loss that none gives.
    Full heads that predict worse for another reason are held against those of other steps as ranks are; and ranks
    against those of a shorter context, whose `less` ends in `SHORT_CONTEXT`. ``p`` is that of `with_p`.
    """
    facts = pd.DataFrame(models).rename(columns={"steps": "step"})
    levels = values.merge(facts, on="model")[[*ARM, *KEYS]]
    top = facts["rank"].max()
    full, lower = (
        part.sort_values("step", kind="stable")
        for part in (
            levels[(levels["rank"] == top) & levels.kind.isin([FAMILY, SHORTER])],
            levels[(levels["rank"] < top) | ~levels.kind.isin([FAMILY, SHORTER])],
        )
    )
    control = full.arm.unique().tolist()
    differences = [paired(lower, chosen(full, kind=FAMILY)[KEYS], f"rank {top}")]
    differences += [
        paired(lower, at_equal_loss(levels, name, lower.arm.unique(), control), less) for name, less in EQUAL.items()
    ]
    ranks = chosen(lower, kind=FAMILY)
    for name, less in EQUAL.items() if (levels.kind == BY_CONTEXT).any() else ():
        there = (levels.measure == name) & (
            (levels.kind == BY_CONTEXT) | levels.arm.isin(chosen(full, kind=FAMILY).arm)
        )
        seen = levels[there].groupby("arm").value.mean().sort_values(ascending=False).index.tolist()
        differences.append(paired(ranks, at_equal_loss(levels, name, ranks.arm.unique(), seen), less + SHORT_CONTEXT))
    table = record(means(levels, *differences, correlations(chosen(levels, kind=FAMILY))))
    return with_p(table.assign(truth=table.truth.replace("", pd.NA), **_units(table)))


def with_p(table: pd.DataFrame) -> pd.DataFrame:
    """Return the record with ``p`` of its differences at equal loss, adjusted over all arms and truths of a measure.

    Kinds of models and of controls are each adjusted alone. There is none of a difference that is 0 by construction.
    """
    ways = [less + control for less in EQUAL.values() for control in ("", SHORT_CONTEXT)]
    tested = table[table["less"].isin(ways) & (table.sd > 0)]
    t = tested.value / (tested.sd / np.sqrt(tested.n.astype(float)))
    p = pd.Series(2 * stdtr(tested.n.astype(float) - 1, -t.abs().astype(float)), index=tested.index)
    adjusted: dict[Any, float] = {}
    for _, together in tested.groupby(["less", "measure", "kind"]):
        adjusted |= holm(p[together.index].to_dict())
    return table.assign(p=table.index.map(adjusted).astype(float))


def at_equal_loss(levels: pd.DataFrame, loss: str, arms: Iterable[str], control: Sequence[str]) -> pd.DataFrame:
    """Return by seed, truth and measure what controls, the worst first, show at an arm's loss, or else NaN."""
    rows = []
    losses = {seed: part.set_index("arm").value for seed, part in chosen(levels, measure=loss).groupby("seed")}
    for (seed, truth, measure), part in levels.groupby(["seed", "truth", "measure"], sort=False):
        of, known = losses[seed], part.set_index("arm").value[list(control)].tolist()
        for arm in arms:
            value = at_loss(of[list(control)].tolist(), known, of[arm])
            rows.append({"arm": arm, "truth": truth, "measure": measure, "seed": seed, "value": value})
    return pd.DataFrame(rows)


def correlations(levels: pd.DataFrame) -> pd.DataFrame:
    """Return by seed Pearson's r between each metric and validation loss over ranks."""
    rows = []
    for seed, of_seed in levels.groupby("seed"):
        losses = chosen(of_seed, measure=LOSS).set_index("arm").value
        for (truth, measure), part in of_seed[of_seed.measure.isin(AGAINST_TRUTHS)].groupby(["truth", "measure"]):
            r = np.corrcoef(losses[part.arm].to_numpy(), part.value.to_numpy())[0, 1]
            known = {"kind": FAMILY, "truth": truth, "seed": seed}
            rows.append({**known, "measure": f"{measure}{CORRELATION}", "value": r})
    return pd.DataFrame(rows)


def _units(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Columns ``unit`` and ``better`` of the rows; a correlation is no better in either direction."""
    known = {name: (unit.format(unit="byte"), better) for name, (_, unit, better) in LOSSES.items() if name in EQUAL}
    known |= {name: (of.unit, of.better) for catalogue in (METRICS, MEASURES) for name, of in catalogue.items()}
    units, better = ({name: of[i] for name, of in known.items()} for i in (0, 1))
    return {"unit": table.measure.map(units).fillna("1"), "better": table.measure.map(better)}


def equal_loss_page(table: pd.DataFrame, truths: Sequence[str]) -> Page:
    """Page with what a rank adds at equal steps and at equal loss, under each metric and in samples."""
    metrics = {labelled(METRICS[name].label, METRICS[name].better): name for name in AGAINST_TRUTHS}
    samples = {labelled(MEASURES[name].label, MEASURES[name].better): name for name in OF_SAMPLES}
    ways = {f"rank {table['rank'].max()}": "equal steps"} | {less: less for less in EQUAL.values()}
    ways |= {less + SHORT_CONTEXT: less + SHORT_CONTEXT for less in EQUAL.values()}
    levels, family = chosen(table, less=None), chosen(table, kind=FAMILY)
    parts = {f"against `{truth}`": (truth, metrics) for truth in truths} | {"of samples": (None, samples)}
    sections = [
        Section(
            f"Less the full head at {how}, {words}", pivot(chosen(family, less=less, truth=truth), ["rank"], columns)
        )
        for less, how in ways.items()
        for words, (truth, columns) in parts.items()
        if len(chosen(family, less=less))
    ]
    others = table[~table.kind.isin([FAMILY, SHORTER]) & table.arm.notna()]
    sections += [
        Section(
            f"Other full heads less that of other steps at {less}, {words}",
            pivot(chosen(others, less=less, truth=truth), ["arm"], columns),
        )
        for less in (EQUAL.values() if len(others) else ())
        for words, (truth, columns) in parts.items()
    ]
    of_arms = levels[levels.arm.notna()]
    sections.append(
        Section("Losses", pivot(of_arms, ["arm", "rank", "step"], {LOSSES[name][0]: name for name in EQUAL}))
    )
    sections += [
        Section(f"Levels, {words}", pivot(chosen(of_arms, truth=truth), ["arm", "rank", "step"], columns))
        for words, (truth, columns) in parts.items()
    ]
    straight = {f"{METRICS[name].label}, Pearson's r": f"{name}{CORRELATION}" for name in AGAINST_TRUTHS}
    rows = pivot(levels[levels.arm.isna()], ["truth"], straight)
    sections.append(Section("Over the ranks of one seed, each metric and validation loss", rows))
    words = legend(__file__, "equal_loss", seeds=int(table.n.max()), others=len(others) > 0)
    return Page(TITLE, sections, [*words, directions(table.better.dropna())])
