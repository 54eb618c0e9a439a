"""Table of the family at equal loss: what a rank shows less what a full head of that loss shows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.contrasts import means, paired
from oversmoothing.tables.losses import METRICS as LOSSES
from oversmoothing.tables.page import Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, record
from oversmoothing.tables.story import legend
from studies.sample_quality.metrics import MEASURES

FAMILY = "family"  # the kind of the ranks; controls have another
TITLE = "The family at equal loss."
LOSS = "validation_loss"
ARM, KEYS = ["kind", "rank", "arm", "step"], ["truth", "measure", "seed", "value"]
EQUAL = {LOSS: "equal loss", "loss": "equal loss on the windows"}  # `less`, by the loss that is equal
BETWEEN = "its neighbours"  # `less` of a control: what those of fewer and of more steps give between them
CORRELATION, RESIDUAL = "_correlation", "_residual"  # at the end of a metric: with the loss, over ranks
OF_SAMPLES = [name for name in MEASURES if name != "loop"]


def equal_loss_table(values: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Levels, and differences at equal steps and at equal loss, over seeds.

    Parameters
    ----------
    values : DataFrame
        ``model``, ``truth`` ("" of what needs none), ``measure``, ``value``; the losses are those of `EQUAL`.
    models : sequence of mappings
        What `plan.compared` returns.

    Returns
    -------
    DataFrame
        Record: means over ``n`` seeds with 95 % intervals by Student's t. Differences are paired by seed, and ``less``
        names what is subtracted: the highest rank (``rank 288``), or what it shows where it has the same loss. There it
        is interpolated for each seed between two numbers of steps; there is no row where a seed has a loss that no
        number of steps gives. Of a control ``its neighbours`` are interpolated in the same way. ``_correlation`` is
        Pearson's r between a metric and validation loss over the ranks of a seed, ``_residual`` the root mean square
        distance of the metric from a straight line there.
    """
    facts = pd.DataFrame(models).rename(columns={"steps": "step"})
    levels = values.merge(facts, on="model")[[*ARM, *KEYS]]
    top = facts["rank"].max()
    full, lower = (
        part.sort_values("step", kind="stable")
        for part in (levels[levels["rank"] == top], levels[levels["rank"] < top])
    )
    control = full.arm.unique().tolist()
    differences = [paired(lower, chosen(full, kind=FAMILY)[KEYS], f"rank {top}")]
    differences += [
        paired(lower, at_equal_loss(levels, name, lower.arm.unique(), control), less) for name, less in EQUAL.items()
    ]
    for before, arm, after in zip(control, control[1:], control[2:], strict=False):
        differences.append(paired(chosen(full, arm=arm), at_equal_loss(levels, LOSS, [arm], [before, after]), BETWEEN))
    family = chosen(levels, kind=FAMILY)
    table = record(means(levels, *differences, straightness(family)))
    return table.assign(truth=table.truth.replace("", pd.NA), **_units(table))


def at_equal_loss(levels: pd.DataFrame, loss: str, arms: Iterable[str], control: Sequence[str]) -> pd.DataFrame:
    """Return what the controls, fewest steps first, show at the loss of each arm, by seed, truth and measure.

    It is NaN where no control has the loss.
    """
    rows = []
    losses = {seed: part.set_index("arm").value for seed, part in chosen(levels, measure=loss).groupby("seed")}
    for (seed, truth, measure), part in levels.groupby(["seed", "truth", "measure"], sort=False):
        of, known = losses[seed], part.set_index("arm").value[list(control)].tolist()
        for arm in arms:
            value = at_loss(of[list(control)].tolist(), known, of[arm])
            rows.append({"arm": arm, "truth": truth, "measure": measure, "seed": seed, "value": value})
    return pd.DataFrame(rows)


def straightness(levels: pd.DataFrame) -> pd.DataFrame:
    """Return by seed how each metric follows validation loss over ranks: Pearson's r, and the distance from a line."""
    rows = []
    for seed, of_seed in levels.groupby("seed"):
        losses = chosen(of_seed, measure=LOSS).set_index("arm").value
        for (truth, measure), part in of_seed[of_seed.measure.isin(AGAINST_TRUTHS)].groupby(["truth", "measure"]):
            x, y = losses[part.arm].to_numpy(), part.value.to_numpy()
            rest = y - np.polyval(np.polyfit(x, y, 1), x)
            found = {CORRELATION: np.corrcoef(x, y)[0, 1], RESIDUAL: np.sqrt(np.mean(rest**2))}
            known = {"kind": FAMILY, "truth": truth, "seed": seed}
            rows += [{**known, "measure": f"{measure}{ending}", "value": value} for ending, value in found.items()]
    return pd.DataFrame(rows)


def _units(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Columns ``unit`` and ``better`` of the rows; correlations and distances are no better in either direction."""
    known = {name: (unit.format(unit="byte"), better) for name, (_, unit, better) in LOSSES.items() if name in EQUAL}
    known |= {name: (of.unit, of.better) for catalogue in (METRICS, MEASURES) for name, of in catalogue.items()}
    units = {name: unit for name, (unit, _) in known.items()}
    units |= {f"{name}{RESIDUAL}": units[name] for name in AGAINST_TRUTHS}
    return {
        "unit": table.measure.map(units).fillna("1"),
        "better": table.measure.map({name: better for name, (_, better) in known.items()}),
    }


def equal_loss_page(table: pd.DataFrame, truths: Sequence[str]) -> Page:
    """Page with what a rank adds at equal steps and at equal loss, under each metric and in samples."""
    metrics = {labelled(METRICS[name].label, METRICS[name].better): name for name in AGAINST_TRUTHS}
    samples = {labelled(MEASURES[name].label, MEASURES[name].better): name for name in OF_SAMPLES}
    losses = {LOSSES[name][0]: name for name in EQUAL}
    top = f"rank {table['rank'].max()}"
    ways = {top: "equal steps"} | {less: less for less in EQUAL.values()}
    levels, family = chosen(table, less=None), chosen(table, kind=FAMILY)
    sections = [
        Section(
            f"Less the full head at {how}, against `{truth}`",
            pivot(chosen(family, less=less, truth=truth), ["rank"], metrics),
        )
        for less, how in ways.items()
        for truth in truths
    ]
    sections += [
        Section(f"Samples: less the full head at {how}", pivot(chosen(family, less=less), ["rank"], samples))
        for less, how in ways.items()
    ]
    of_arms = levels[levels.arm.notna()]
    sections.append(Section("Losses", pivot(of_arms, ["rank", "step"], losses)))
    for truth in truths:
        sections.append(
            Section(f"Levels, against `{truth}`", pivot(chosen(of_arms, truth=truth), ["rank", "step"], metrics))
        )
    sections.append(Section("Samples: levels", pivot(of_arms, ["rank", "step"], samples)))
    straight = {
        f"{METRICS[name].label}, {words}": f"{name}{ending}"
        for name in AGAINST_TRUTHS
        for ending, words in ((CORRELATION, "Pearson's r"), (RESIDUAL, "distance"))
    }
    rows = pivot(levels[levels.arm.isna()], ["truth"], straight)
    sections.append(Section("Over the ranks of one seed, each metric and validation loss", rows))
    words = legend(__file__, "equal_loss", seeds=int(table.n.max()))
    return Page(TITLE, sections, [*words, directions(table.better.dropna())])
