"""Table of the family at equal loss: what a rank shows less what a full head of that loss shows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from oversmoothing.numerics.crossed import crossed_interval
from oversmoothing.numerics.equal_loss import at_loss, bracket
from oversmoothing.numerics.statistics import holm
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.scores.sums import positions_by_window
from oversmoothing.tables.contrasts import by_window, means, paired, widened
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
ON_WINDOWS = next(iter(EQUAL))
SHORT_CONTEXT = ", shorter context"  # at the end of a `less`: the control sees fewer bytes, after as many steps
CORRELATION = "_correlation"  # at the end of a metric: Pearson's r with validation loss, over the ranks of a seed
OF_SAMPLES = [name for name in MEASURES if name != "loop"]


def equal_loss_table(values: pd.DataFrame, models: Sequence[Mapping[str, Any]], windows: pd.DataFrame) -> pd.DataFrame:
    """Return the record of levels, and of differences at equal steps and at equal loss: means over ``n`` seeds.

    `values` has ``model``, ``truth`` ("" of what needs none), ``measure`` and ``value``; the losses are `EQUAL`, and
    `models` is what `plan.compared` returns. `windows` has means of ``n`` positions by ``window``, of the loss on the
    windows and of the metrics. Intervals are 95 %, by Student's t over seeds; those of differences in loss and metrics
    are also over seeds and windows (`over_windows`). Differences are paired by seed, and
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
    ways = [(less, name, lower.arm.unique(), control) for name, less in EQUAL.items()]
    ranks = chosen(lower, kind=FAMILY)
    for name, less in EQUAL.items() if (levels.kind == BY_CONTEXT).any() else ():
        there = (levels.measure == name) & (
            (levels.kind == BY_CONTEXT) | levels.arm.isin(chosen(full, kind=FAMILY).arm)
        )
        seen = levels[there].groupby("arm").value.mean().sort_values(ascending=False).index.tolist()
        ways.append((less + SHORT_CONTEXT, name, ranks.arm.unique(), seen))
    differences += [
        paired(lower, at_equal_loss(levels, name, arms, controls), less) for less, name, arms, controls in ways
    ]
    at_top = (f"rank {top}", "", lower.arm.unique(), chosen(full, kind=FAMILY).arm.unique().tolist())
    intervals = pd.DataFrame(over_windows(windows.merge(facts, on="model"), levels, [at_top, *ways]))
    found = means(levels, *differences, correlations(chosen(levels, kind=FAMILY)))
    table = record(found.merge(intervals, how="left", on=["arm", "truth", "measure", "less"]))
    return with_p(table.assign(truth=table.truth.replace("", pd.NA), **_units(table)))


def over_windows(
    windows: pd.DataFrame, levels: pd.DataFrame, ways: Iterable[tuple[str, str, Iterable[str], Sequence[str]]]
) -> Iterator[dict[str, Any]]:
    """Yield the interval over seeds and windows of each difference: of each way ``(less, loss, arms, controls)``.

    What controls show at an arm's loss is interpolated between two, y = (1 - s) a + s b. Another text would move the
    losses on the windows as well, and so s; to first order that adds to a window's part of y the slope of the metric
    over the loss, times how far the arm's loss there is from (1 - s) of the one control's and s of the other's.
    """
    n = positions_by_window(windows)
    of_models = {
        key: part.pivot_table("value", ["seed", "arm"], "window", observed=True)
        for key, part in windows.groupby(["truth", "measure"], sort=False, observed=True)
    }
    by_loss = {name: chosen(levels, measure=name).pivot_table("value", "seed", "arm") for name in EQUAL}
    for less, loss, arms, controls in ways:
        moving = of_models["", ON_WINDOWS] if loss == ON_WINDOWS else None
        of_seeds = by_loss[loss or LOSS]
        for arm in arms:
            found = [
                bracket(own[controls].tolist(), own[arm]) if loss else (0, 0, 0.0) for _, own in of_seeds.iterrows()
            ]
            near = [between for between in found if between]
            for (truth, measure), shown in of_models.items() if len(near) == len(found) else ():
                square = [
                    by_window(shown.loc[seed], None if moving is None else moving.loc[seed], n, arm, controls, between)
                    for seed, between in zip(of_seeds.index, near, strict=True)
                ]
                _, low, high = crossed_interval(square, n)
                known = {"arm": arm, "truth": truth, "measure": measure, "less": less}
                yield {**known, "low_crossed": low, "high_crossed": high}


def with_p(table: pd.DataFrame) -> pd.DataFrame:
    """Return the record with ``p`` of its differences at equal loss, adjusted over all arms and truths of a measure.

    It is over seeds, as of samples there is nothing else.
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
    """Return columns ``unit`` and ``better`` of the rows; a correlation is no better in either direction."""
    known = {name: (unit.format(unit="byte"), better) for name, (_, unit, better) in LOSSES.items() if name in EQUAL}
    known |= {name: (of.unit, of.better) for catalogue in (METRICS, MEASURES) for name, of in catalogue.items()}
    units, better = ({name: of[i] for name, of in known.items()} for i in (0, 1))
    return {"unit": table.measure.map(units).fillna("1"), "better": table.measure.map(better)}


def equal_loss_page(table: pd.DataFrame, truths: Sequence[str]) -> Page:
    """Return the page with what a rank adds at equal steps and at equal loss, under each metric and in samples."""
    metrics = {labelled(METRICS[name].label, METRICS[name].better): name for name in AGAINST_TRUTHS}
    samples = {labelled(MEASURES[name].label, MEASURES[name].better): name for name in OF_SAMPLES}
    ways = {f"rank {table['rank'].max()}": "equal steps"} | {less: less for less in EQUAL.values()}
    ways |= {less + SHORT_CONTEXT: less + SHORT_CONTEXT for less in EQUAL.values()}
    table, compared = widened(table)
    levels, family = chosen(table, less=None), chosen(table, kind=FAMILY)
    parts: dict[str, tuple[str | None, dict[str, str]]]
    parts = {f"against `{truth}`": (truth, metrics) for truth in truths}
    parts |= {"of samples": (None, samples)} if table.measure.isin(OF_SAMPLES).any() else {}
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
    words = legend(__file__, "equal_loss", seeds=int(table.n.max()), others=len(others) > 0, **compared)
    return Page(TITLE, sections, [*words, directions(table.better.dropna())])
