"""Error of the published shortcut: TBAT by the rank of the head approximation given to BAT."""

from pathlib import Path

import pandas as pd

from oversmoothing.page import IN_BRACKETS, Cell, Page, Section, Value, model_cells
from oversmoothing.statistics import Summary, WindowSums, summarise
from oversmoothing.store.parquet import read_groups
from oversmoothing.tbat import APPROXIMATED


def approximation_page(table: pd.DataFrame, title: str) -> Page:
    """Page with one row per model and one column per rank of approximation."""
    several_seeds = table.seed.nunique() > 1
    ranks = sorted(table.approximation[~table.exact].unique())
    rows = []
    for _, own in table.groupby("model", sort=False):
        row: dict[str, Cell] = model_cells(own.iloc[0].to_dict(), several_seeds) | {
            f"rank {rank}": None for rank in ranks
        }
        for record in own.to_dict("records"):
            name = "exact" if record["exact"] else f"rank {record['approximation']}"
            row[name] = Value(record["mean"], record["sd"], record["low"], record["high"])
        rows.append(row)
    legend = [
        "TBAT under pure sampling when BAT is given an SVD approximation of the head, of the rank that heads the "
        f"column, instead of the head itself: mean ± standard deviation over {int(table.n.max()):,} positions",
        "A lower rank fixes fewer directions, so it can only reject more: whatever stands above the exact value is "
        "mass of tokens that BAT itself proves to be in the truth's support",
    ]
    return Page(title, [Section("", rows)], legend, IN_BRACKETS)


def summarise_approximations(path: str | Path, resamples: int, seed: int) -> dict[int, tuple[Summary, Summary]]:
    """Summaries by rank of approximation, the exact head last: of TBAT, and of its excess over exact TBAT."""
    sums: dict[int, tuple[WindowSums, WindowSums]] = {}
    for group in read_groups(path, APPROXIMATED.names):
        windows, ranks, values = (group[name].to_numpy() for name in ("window", "approximation", "value"))
        found = {rank: values[ranks == rank] for rank in dict.fromkeys(ranks.tolist())}
        exact = list(found.values())[-1]
        for rank, own in found.items():
            total, excess = sums.setdefault(rank, (WindowSums(), WindowSums()))
            total.add(windows[ranks == rank], own)
            excess.add(windows[ranks == rank], own - exact)
    return {
        rank: (summarise(total, resamples, seed), summarise(excess, resamples, seed))
        for rank, (total, excess) in sums.items()
    }
