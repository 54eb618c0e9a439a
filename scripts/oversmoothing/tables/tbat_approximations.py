"""Error of the published shortcut: TBAT by the rank of the head approximation given to BAT."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.parquet import read_groups
from oversmoothing.tables.page import IN_BRACKETS, MODEL, Page, Section, pivot
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend

TBAT, EXCESS = "tbat_approximation", "excess"
EXACT = "exact"  # note on the rank of the head itself


def approximation_table(
    paths: Iterable[str | Path], models: Iterable[Mapping[str, Any]], resamples: int, seed: int
) -> pd.DataFrame:
    """Return the record of TBAT with each approximation of the head, and of its `EXCESS` over exact TBAT, by model."""
    rows = []
    for model, path in zip(models, paths, strict=True):
        summaries = summarise_approximations(path, resamples, seed)
        exact = list(summaries)[-1]
        for rank, (total, excess) in summaries.items():
            row = {**facts(model), "approximation": rank, "unit": METRICS["tbat"].unit}
            better, note = METRICS["tbat"].better, EXACT if rank == exact else None
            rows.append({**row, "measure": TBAT, **numbers(total), "better": better, "note": note})
            rows.append({**row, "measure": EXCESS, **numbers(excess)})
    return record(rows)


def approximation_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with one row per model and one column per rank of approximation."""
    shown = table[table.measure == TBAT]
    ranks = sorted(shown.approximation[shown.note != EXACT].unique())
    columns = {f"rank {rank}": {"approximation": rank, "note": None} for rank in ranks} | {EXACT: {"note": EXACT}}
    rows = pivot(shown, [MODEL], columns, spread=True)
    return Page(title, [Section("", rows)], legend(__file__, TBAT, n=int(table.n.max())), IN_BRACKETS)


def summarise_approximations(path: str | Path, resamples: int, seed: int) -> dict[int, tuple[Summary, Summary]]:
    """Return summaries by rank of approximation, the exact head last: of TBAT, and of its excess over exact TBAT."""
    sums: dict[int, tuple[WindowSums, WindowSums]] = {}
    for group in read_groups(path, ["window", "position", "approximation", "value"]):
        windows, ranks, values = (group[name].to_numpy() for name in ("window", "approximation", "value"))
        by_rank = {rank: values[ranks == rank] for rank in dict.fromkeys(ranks.tolist())}
        exact = list(by_rank.values())[-1]
        for rank, tbat in by_rank.items():
            total, excess = sums.setdefault(rank, (WindowSums(), WindowSums()))
            total.add(windows[ranks == rank], tbat)
            excess.add(windows[ranks == rank], tbat - exact)
    return {
        rank: (summarise(total, resamples, seed), summarise(excess, resamples, seed))
        for rank, (total, excess) in sums.items()
    }
