"""What the published shortcut costs in truth: a table of TBAT by rank of the head that BAT was given."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from oversmoothing.layout import latex_cell, latex_text, markdown_cell, model_cells, write_latex_tables, write_page

LEGEND = (
    "TBAT under pure sampling when BAT is given an SVD approximation of the head, of the rank that heads the column, "
    "instead of the head itself: mean ± standard deviation over {n:,} positions{intervals}. A lower rank fixes fewer "
    "directions, so it can only reject more: whatever stands above the exact value is mass of tokens that BAT itself "
    "proves to be in the truth's support."
)
INTERVALS = " [95 % interval of the mean, from a bootstrap over whole windows]"


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: a row per model, a column per rank of approximation."""
    write_page(paths, title, [("", _wide(table, markdown_cell))], _legend(table, INTERVALS))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as a LaTeX table."""
    wide = _wide(table, latex_cell)
    wide["rank"] = wide["rank"].map(latex_text)
    write_latex_tables(path, [(wide, f"{title} {_legend(table, '')}")])


def _wide(table: pd.DataFrame, cell: Callable[..., str]) -> pd.DataFrame:
    several_seeds = table.seed.nunique() > 1
    ranks = sorted(table.approximation[~table.exact].unique())
    rows = []
    for _, own in table.groupby("model", sort=False):
        records = {row["approximation"]: row for row in own.to_dict("records")}
        exact = own[own.exact].iloc[0]
        cells = {f"rank {rank}": records[rank] for rank in ranks if rank in records and not records[rank]["exact"]}
        rows.append(
            model_cells(exact.to_dict(), several_seeds)
            | {f"rank {rank}": "" for rank in ranks}
            | {name: cell(row["mean"], row["sd"], row["low"], row["high"]) for name, row in cells.items()}
            | {"exact": cell(exact["mean"], exact.sd, exact.low, exact.high)}
        )
    return pd.DataFrame(rows)


def _legend(table: pd.DataFrame, intervals: str) -> str:
    return LEGEND.format(n=int(table.n.max()), intervals=intervals)
