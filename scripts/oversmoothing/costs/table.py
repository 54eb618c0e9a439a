"""From the seconds of single positions to the table of costs (Table I.1)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.costs.timed import REPEATS, TIMED
from oversmoothing.layout import ARROWS, latex_text, stand_ins, write_latex_tables, write_page

PUBLISHED_AS = {metric: "tbat" if metric.startswith("tbat") else metric for metric in TIMED}


def cost_table(costs: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Summarise the seconds per position, the thesis's beside ours (Table I.1).

    Parameters
    ----------
    costs : DataFrame
        Of schema `measure.COSTS`: a row per position.
    models : sequence of mappings
        ``model`` and ``published_as`` of each (see the workflow's plan).
    published : DataFrame
        ``model``, ``metric``, ``mean``, ``sd``.

    Returns
    -------
    DataFrame
        One row per model, in the order given, and metric. ``ratio``, at ``tbat`` alone, is the median over positions
        of the linear programs' time over ours.
    """
    cells = published.set_index(["model", "metric"])
    rows = []
    for facts in models:
        own = costs[costs.model == facts["model"]]
        for metric in TIMED:
            key = (facts["published_as"], PUBLISHED_AS[metric])
            known = key in cells.index
            rows.append(
                {
                    "model": facts["model"],
                    "rank": own["rank"].iloc[0],
                    "metric": metric,
                    "unit": "seconds",
                    "better": "lower",
                    "mean": own[metric].mean(),
                    "sd": own[metric].std(),
                    "median": own[metric].median(),
                    "n": len(own),
                    "ratio": (own.tbat_published_method / own.tbat).median() if metric == "tbat" else np.nan,
                    "published_model": facts["published_as"] if known else None,
                    "published_mean": cells.loc[key, "mean"] if known else np.nan,
                    "published_sd": cells.loc[key, "sd"] if known else np.nan,
                }
            )
    return pd.DataFrame(rows)


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: a row per model, ours beside the published."""
    write_page(paths, title, [("", _wide(table, _markdown_cell))], _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as a LaTeX table."""
    wide = _wide(table, _latex_cell)
    wide["rank"] = wide["rank"].map(latex_text)
    write_latex_tables(path, [(wide, f"{title} {_legend(table)}")])


def _wide(table: pd.DataFrame, cell: Callable[[float, float], str]) -> pd.DataFrame:
    """Turn tidy rows into one row per model and, per metric, one column of ours and one of the thesis's."""
    alike = table.groupby("rank").model.nunique().max() > 1
    rows = []
    for model, own in table.groupby("model", sort=False):
        records = {record["metric"]: record for record in own.to_dict("records")}
        row = {"rank": f"{own['rank'].iloc[0]} ({model})" if alike else str(own["rank"].iloc[0])}
        for metric, record in records.items():
            row[f"{TIMED[metric]} {ARROWS[record['better']]}"] = cell(record["mean"], record["sd"])
            if metric != "tbat":
                row["published " + TIMED[PUBLISHED_AS[metric]]] = cell(record["published_mean"], record["published_sd"])
        row["ratio"] = f"{records['tbat']['ratio']:,.0f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _markdown_cell(mean: float, sd: float) -> str:
    if pd.isna(mean):
        return "-"
    mantissa, spread, exponent = _scientific(mean, sd)
    return f"({mantissa} ± {spread})e{exponent:+03d}" if spread else f"{mantissa}e{exponent:+03d}"


def _latex_cell(mean: float, sd: float) -> str:
    if pd.isna(mean):
        return "--"
    mantissa, spread, exponent = _scientific(mean, sd)
    number = rf"({mantissa} \pm {spread})" if spread else mantissa
    return rf"${number} \times 10^{{{exponent}}}$"


def _scientific(mean: float, sd: float) -> tuple[str, str, int]:
    """Split mean and sd into digits and the mean's power of ten; no digits for the sd of one value."""
    exponent = int(f"{mean:.2e}".partition("e")[2])
    return f"{mean / 10.0**exponent:.2f}", "" if pd.isna(sd) else f"{sd / 10.0**exponent:.2f}", exponent


def _legend(table: pd.DataFrame) -> str:
    parts = [
        f"Seconds of processor time for one position: mean ± standard deviation over {int(table.n.max()):,} positions, "
        f"each the median of {REPEATS} calls (linear programs: one)",
        "↓ lower is better",
        "TTO to KL pay for the call as such: many positions in one call cost far less each",
        "Ratio: how many times `reject_set` is faster than one linear program per token, the median over positions; "
        "both gave the same sets on every one of them",
    ]
    if table.published_mean.notna().any():
        parts.append("The published times were taken on other hardware: compare how they grow, not their level")
    parts += stand_ins(table)
    return ". ".join(parts) + "."
