"""Table of the family at equal loss: what a rank shows less what a full head shows that learned for fewer steps."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.losses import METRICS as LOSSES
from oversmoothing.tables.page import Cell, Page, Section, directions, labelled, valued
from oversmoothing.tables.record import over_seeds, record
from oversmoothing.tables.story import legend
from studies.sample_quality.metrics import MEASURES

FAMILY = "family"  # the kind of the ranks; controls have another
TITLE = "The family at equal loss."
EQUAL = {"validation_loss": "equal loss", "loss": "equal loss on the windows"}  # `less`, by the loss that is equal
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
    facts = pd.DataFrame(models)
    arms = {arm: part.iloc[0] for arm, part in facts.groupby("arm", sort=False)}
    top = facts["rank"].max()
    control = sorted((arm for arm in arms if arms[arm]["rank"] == top), key=lambda arm: arms[arm]["steps"])
    lower = [arm for arm in arms if arms[arm]["rank"] < top]
    square = {
        key: part.pivot(index="seed", columns="arm", values="value")
        for key, part in values.merge(facts, on="model").groupby(["truth", "measure"], sort=False)
    }
    losses = {name: square["", name] for name in EQUAL}

    def row(arm: str, numbers: Iterable[float], **more: Any) -> dict[str, Any]:
        known = {key: arms[arm][key] for key in ("kind", "rank", "arm")} | {"step": arms[arm]["steps"]}
        return {**known, **of_measure, **more, **over_seeds(numbers)}

    rows: list[dict[str, Any]] = []
    for (truth, measure), by_arm in square.items():
        of_measure = {"truth": truth or None, "measure": measure, **_unit(measure)}
        rows += [row(arm, by_arm[arm]) for arm in arms]
        rows += [row(arm, by_arm[arm] - by_arm[control[-1]], less=f"rank {top}") for arm in lower]
        for name, less in EQUAL.items():
            for arm in lower:
                equal = at_equal_loss(losses[name], by_arm, arm, control)
                rows += [row(arm, by_arm[arm] - equal, less=less)] if equal.notna().all() else []
        for before, arm, after in zip(control, control[1:], control[2:], strict=False):
            between = at_equal_loss(losses["validation_loss"], by_arm, arm, [before, after])
            rows += [row(arm, by_arm[arm] - between, less=BETWEEN)] if between.notna().all() else []
        if truth:
            rows += _straightness(losses["validation_loss"], by_arm, [*lower, control[-1]], of_measure)
    return record(rows)


def at_equal_loss(losses: pd.DataFrame, values: pd.DataFrame, arm: str, control: Sequence[str]) -> pd.Series:
    """Return by seed what the controls, fewest steps first, show at the loss of an arm; NaN where none has it."""
    of = list(control)
    known = {
        seed: at_loss(losses.loc[seed, of].tolist(), values.loc[seed, of].tolist(), losses.loc[seed, arm])
        for seed in losses.index
    }
    return pd.Series(known)


def _straightness(
    losses: pd.DataFrame, values: pd.DataFrame, arms: Sequence[str], facts: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    seeds = [(losses.loc[seed, list(arms)], values.loc[seed, list(arms)]) for seed in losses.index]
    r = [np.corrcoef(x, y)[0, 1] for x, y in seeds]
    rest = [np.sqrt(np.mean((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2)) for x, y in seeds]
    for ending, numbers, unit in ((CORRELATION, r, "1"), (RESIDUAL, rest, facts["unit"])):
        more = {"measure": f"{facts['measure']}{ending}", "unit": unit, "better": None}
        yield {**facts, **more, "kind": FAMILY, **over_seeds(numbers)}


def _unit(measure: str) -> dict[str, str]:
    if measure in EQUAL:
        _, unit, better = LOSSES[measure]
        return {"unit": unit.format(unit="byte"), "better": better}
    of = METRICS[measure] if measure in METRICS else MEASURES[measure]
    return {"unit": of.unit, "better": of.better}


def equal_loss_page(table: pd.DataFrame, truths: Sequence[str]) -> Page:
    """Page with what a rank adds at equal steps and at equal loss, under each metric and in samples."""
    metrics = {name: labelled(METRICS[name].label, METRICS[name].better) for name in AGAINST_TRUTHS}
    losses = {name: LOSSES[name][0] for name in EQUAL}
    samples = {name: labelled(MEASURES[name].label, MEASURES[name].better) for name in OF_SAMPLES}
    family = table[table.arm.notna() & (table.kind == FAMILY)]
    top = f"rank {table['rank'].max()}"
    sections = []
    for less, how in {top: "equal steps", **{less: less for less in EQUAL.values()}}.items():
        of = family[family.less == less]
        for truth in truths:
            sections.append(Section(f"Less the full head at {how}, against `{truth}`", _rows(of, metrics, truth)))
    for less, words in ((top, "steps"), (EQUAL["validation_loss"], "loss")):
        sections.append(
            Section(f"Samples: less the full head at equal {words}", _rows(family[family.less == less], samples))
        )
    levels = table[table.arm.notna() & table.less.isna()]
    sections.append(Section("Losses", _rows(levels, losses)))
    for truth in truths:
        sections.append(Section(f"Levels, against `{truth}`", _rows(levels, metrics, truth)))
    sections.append(Section("Samples: levels", _rows(levels, samples)))
    straight = table[table.measure.str.endswith((CORRELATION, RESIDUAL))]
    sections.append(Section("Over the ranks of one seed, each metric and validation loss", _straight_rows(straight)))
    told = legend(__file__, "equal_loss", seeds=int(table.n.max()))
    return Page(TITLE, [one for one in sections if one.rows], [*told, directions(table.better.dropna())])


def _rows(table: pd.DataFrame, columns: Mapping[str, str], truth: str | None = None) -> list[dict[str, Cell]]:
    table = table[table.truth.isna() if truth is None else table.truth == truth]
    rows: list[dict[str, Cell]] = []
    for _, part in table[table.measure.isin(columns)].groupby("arm", sort=False):
        first = part.iloc[0]
        numbers = {row["measure"]: valued(row, spread=False) for row in part.to_dict("records")}
        named = {"rank": str(first["rank"]), "steps": str(first["step"])}
        rows.append({**named, **{title: numbers.get(name) for name, title in columns.items()}})
    return rows


def _straight_rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for truth, part in table.groupby("truth", sort=False):
        numbers = part.set_index("measure").to_dict("index")
        for name in AGAINST_TRUTHS:
            r, rest = (valued(numbers[f"{name}{ending}"], spread=False) for ending in (CORRELATION, RESIDUAL))
            rows.append({"truth": str(truth), "metric": METRICS[name].label, "Pearson's r": r, "distance": rest})
    return rows
