"""Table of the ways of imposing a rank: learned, on the gradient alone, truncated, retrained."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from oversmoothing.numerics.statistics import Summary, WindowSums, share_of_difference
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.kinds import TITLES
from oversmoothing.tables.page import AIMS, Cell, Page, Section, Value, directions, labelled, pivot
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend

MEASURES = {
    "loss": ("loss (nats)", "nats per {unit}", "lower"),
    "accuracy": ("accuracy", "share of {unit}s", "higher"),
    **{name: (METRICS[name].label, METRICS[name].unit, METRICS[name].better) for name in AGAINST_TRUTHS},
}
SHARE = "share"
COLUMNS = {
    "loss": MEASURES["loss"],
    SHARE: ("share of the cost", "of the cost of learning from scratch", ""),
} | MEASURES


def shares_of_cost(
    losses: Mapping[str, WindowSums], models: Sequence[Mapping[str, Any]], resamples: int, seed: int
) -> dict[tuple[str, str, str | None], Summary]:
    """Return the cost of each retrained head as a share of the cost of a model learned from scratch with its rank.

    A cost is a loss less that of the full model, the member of the family of highest rank, over the same windows. A
    head has no share if no member of the family has its rank, or if that member's cost does not differ from zero.
    The result, summaries without sd, is by (model, `SHARE`, None), as `imposed_rank_table` takes it.
    """
    shares: dict[tuple[str, str, str | None], Summary] = {}
    for model in models:
        family = {m["rank"]: m["model"] for m in models if (m["kind"], m["seed"]) == ("family", model["seed"])}
        if model["kind"] in ("retrained", "normed") and model["rank"] in family:
            head, scratch, full = (
                losses[name] for name in (model["model"], family[model["rank"]], family[max(family)])
            )
            share, low, high = share_of_difference(head, scratch, full, resamples, seed)
            if not math.isnan(share):
                shares[model["model"], SHARE, None] = Summary(share, math.nan, sum(head.count.values()), low, high)
    return shares


def imposed_rank_table(
    summaries: Mapping[tuple[str, str, str | None], Summary],
    models: Sequence[Mapping[str, Any]],
    unit: str = "byte",
) -> pd.DataFrame:
    """Return the record of all measures by seed, rank and kind.

    `summaries` are by model, measure and truth, or None.
    """
    order = sorted(models, key=lambda model: (model["seed"], model["rank"], list(TITLES).index(model["kind"])))
    rows = []
    for model in order:
        for measure, (_, of, better) in COLUMNS.items():
            for (name, summarised, truth), summary in summaries.items():
                if (name, summarised) == (model["model"], measure):
                    described = {"measure": measure, "unit": of.format(unit=unit), "better": better or None}
                    rows.append({**facts(model), "truth": truth, **described, **numbers(summary)})
    return record(rows)


def against(table: pd.DataFrame, truth: str) -> pd.DataFrame:
    """Return rows for one truth, and those that depend on no truth."""
    return table[table.truth.isna() | (table.truth == truth)]


def imposed_rank_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a section per truth and a row per rank and way; the best way at each rank is bold."""
    truths = table.truth.dropna().unique()
    sections = [Section(f"Against `{truth}`", _rows(against(table, truth))) for truth in truths]
    return Page(title, sections, _legend(table, set(table.kind)))


def _rows(table: pd.DataFrame) -> list[dict[str, Cell]]:
    columns = {labelled(label, better): measure for measure, (label, _, better) in COLUMNS.items()}
    aims = {labelled(label, better): AIMS.get(better) for label, _, better in COLUMNS.values()}
    keys = ["rank", "seed", "way"] if table.seed.nunique() > 1 else ["rank", "way"]
    rows = pivot(table.assign(way=table.kind.map(TITLES)), keys, columns)
    for row in rows:
        for name, aim in aims.items():
            if isinstance(cell := row.get(name), Value) and aim is not None:
                row[name] = replace(cell, rivals=f"{row.get('seed')} {row['rank']} {name}", aim=aim)
    return rows


def _legend(table: pd.DataFrame, kinds: set[str]) -> list[str]:
    told = {"share": (table.measure == SHARE).any(), "one_seed": table.seed.nunique() == 1}
    return [*legend(__file__, "imposed_rank", n=int(table.n.max()), kinds=kinds, **told), directions(table.better)]
