"""Table of trunks with a new head: what each shows, less the full trunk, and less a full one that was stopped."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.numerics.crossed import crossed_interval
from oversmoothing.numerics.equal_loss import bracket
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.scores.sums import positions_by_window
from oversmoothing.tables.contrasts import by_window, means
from oversmoothing.tables.page import Page, Section, directions, labelled, pivot
from oversmoothing.tables.record import chosen, over_seeds, record
from oversmoothing.tables.story import legend
from studies.narrow_trunk.parts import ALL, HEAD, LAST_BLOCK, LOSS, SCRATCH

TITLE = "What the trunk behind a low rank lacks, and how fast it learns it."
FULL_KINDS = ("family", "shorter")  # full heads: after all steps, and stopped before
FULL = "full trunk"  # `less`: the full model after all steps, which learned on alike
STOPPED = (
    "full trunk of equal loss"  # `less`: full models that had the arm's loss when they stopped, and learned on alike
)
STAYS = "_stays"  # at the end of a measure: the share that stays of what the model showed above the full one
PARTS = {HEAD: "a new head", LAST_BLOCK: "a new head and the last block", ALL: "everything"}
AT = ["part", "step", "truth", "measure"]
UNITS = {LOSS: ("nats per {unit}", "lower")} | {
    name: (METRICS[name].unit, METRICS[name].better) for name in AGAINST_TRUTHS
}


def narrow_trunk_table(values: pd.DataFrame, models: Sequence[Mapping[str, Any]], unit: str) -> pd.DataFrame:
    """Return the record of levels, of differences from full trunks, and of shares that stay: means over ``n`` seeds.

    `values` has, of each ``model``, the rows of `measure.LEARNED_ON`; `models` has ``model``, ``kind``, ``rank``,
    ``seed`` and ``arm``. ``less`` is `FULL`, or `STOPPED`: what full models show that were stopped at the loss on the
    windows that the arm had as it was trained, interpolated for each seed between two that were. There is no row where
    a seed has a loss between no two. Intervals are 95 %, over seeds, and of differences also over seeds and windows.
    """
    facts = pd.DataFrame(models)[["model", "kind", "rank", "seed", "arm"]]
    table = values.assign(part=values.part.fillna(""), truth=values.truth.fillna("")).merge(facts, on="model")
    levels = over_windows(table)
    top = facts["rank"].max()
    whole = chosen(facts, kind="family", rank=top).arm.iloc[0]
    full = facts[(facts["rank"] == top) & facts.kind.isin(FULL_KINDS)].arm.unique().tolist()
    narrow = [arm for arm in facts.arm.unique() if arm not in full]
    stopped = [arm for arm in full if arm != whole]
    rows = [*differences(table, levels, FULL, [*narrow, *stopped], [whole])]
    rows += differences(table, levels, STOPPED, narrow, full)
    known = facts.drop_duplicates("arm")[["arm", "kind", "rank"]]
    shares = means(stays(levels, [*narrow, *stopped], whole)).merge(known, on="arm")
    found = pd.concat([means(levels), pd.DataFrame(rows).merge(known, on="arm"), shares], ignore_index=True)
    of = found.measure.str.removesuffix(STAYS).map(UNITS)
    share = found.measure.str.endswith(STAYS)
    found["unit"] = of.str[0].str.replace("{unit}", unit).mask(share, "share")
    return record(found.assign(better=of.str[1], **{key: found[key].replace("", pd.NA) for key in ("part", "truth")}))


def over_windows(table: pd.DataFrame) -> pd.DataFrame:
    """Return means over windows, weighed by positions, by arm, seed, part, step, truth and measure."""
    weighed = table.assign(value=table.value * table.n)
    summed = weighed.groupby(["kind", "rank", "arm", *AT, "seed"], sort=False)[["value", "n"]].sum()
    return summed.assign(value=summed.value / summed.n).drop(columns="n").reset_index()


def differences(
    table: pd.DataFrame, levels: pd.DataFrame, less: str, arms: Sequence[str], full: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield rows of what each arm shows less what full arms show: one, or several at the loss that the arm had."""
    trained = chosen(levels, part="", measure=LOSS).pivot(index="seed", columns="arm", values="value")
    n = positions_by_window(table)
    square = {
        key: part.pivot(index=["seed", "arm"], columns="window", values="value")
        for key, part in table.groupby(AT, sort=False)
    }
    moving = square["", 0, "", LOSS] if len(full) > 1 else None
    ordered = {seed: sorted(full, key=lambda name: -losses[name]) for seed, losses in trained.iterrows()}
    for arm in arms:
        found = {
            seed: (0, 0, 0.0) if moving is None else bracket(losses[ordered[seed]].tolist(), losses[arm])
            for seed, losses in trained.iterrows()
        }
        near = {seed: between for seed, between in found.items() if between}
        for key, own in square.items() if len(near) == len(found) else ():
            if arm not in own.index.get_level_values("arm"):  # scratch is of the full model alone
                continue
            apart = [
                by_window(own.loc[seed], None if moving is None else moving.loc[seed], n, arm, ordered[seed], between)
                for seed, between in near.items()
            ]
            values = [float(row @ n / n.sum()) for row in apart]
            _, low, high = crossed_interval(apart, n)
            known = {**dict(zip(AT, key, strict=True)), "arm": arm, "less": less}
            yield {**known, **over_seeds(values), "low_crossed": low, "high_crossed": high}


def stays(levels: pd.DataFrame, arms: Sequence[str], whole: str) -> pd.DataFrame:
    """Return by seed which share stays, once a part has learned on, of what an arm showed above the full model."""
    keys = ["seed", "truth", "measure"]
    base = chosen(levels, arm=whole)[["seed", *AT, "value"]]
    above = levels[levels.arm.isin(arms)].merge(base, on=["seed", *AT], suffixes=("", "_full"))
    above = above.assign(value=above.value - above.value_full)[["arm", *AT, "seed", "value"]]
    before = chosen(above, part="")[["arm", *keys, "value"]]
    both = above[above.part != ""].merge(before, on=["arm", *keys], suffixes=("", "_before"))
    both = both.assign(value=both.value / both.value_before, measure=both.measure + STAYS)
    return both.drop(columns="value_before")


def narrow_trunk_page(table: pd.DataFrame) -> Page:
    """Return the page: losses by arm, part and step; shares that stay; differences at equal loss."""
    last = int(table.step.max())
    steps = {f"{step} steps": step for step in sorted(table.step.dropna().unique()) if step}
    levels = chosen(table, less=None)
    own = levels[levels.part.isna()]
    metrics = {labelled(METRICS[name].label, METRICS[name].better): name for name in AGAINST_TRUTHS}
    truths = own.truth.dropna().unique().tolist()
    sections = [Section("As trained: loss", pivot(chosen(own, truth=None), ["arm"], {"loss": LOSS}))]
    sections += [
        Section(f"As trained, against `{truth}`", pivot(chosen(own, truth=truth), ["arm"], metrics)) for truth in truths
    ]
    shown = table.assign(what=table.part.map({**PARTS, SCRATCH: "from the start"}))
    by_step = {name: {"step": step} for name, step in steps.items()}
    for words, less, measure in (
        ("Loss", None, LOSS),
        ("Share of the loss above the full trunk's that stays", None, LOSS + STAYS),
        ("Loss, less the full trunk of equal loss", STOPPED, LOSS),
    ):
        part = chosen(shown[shown.part.notna()], less=less, measure=measure)
        if len(part):
            sections.append(Section(words, pivot(part, ["arm", "what"], by_step)))
    for truth in truths:
        part = chosen(shown[shown.part.notna()], less=STOPPED, truth=truth, step=last)
        if len(part):
            name = f"After {last} steps, less the full trunk of equal loss, against `{truth}`"
            sections.append(Section(name, pivot(part, ["arm", "what"], metrics)))
    notes = legend(__file__, "narrow_trunk", seeds=int(table.n.max()))
    return Page(TITLE, sections, [*notes, directions(table.better.dropna())])
