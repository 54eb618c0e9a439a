"""From summaries of scores to the tables that people read, the thesis's numbers beside ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.layout import (
    ARROWS,
    MISSING,
    latex_cell,
    latex_text,
    markdown_cell,
    model_cells,
    read_csv,
    stand_ins,
    write_latex_tables,
    write_page,
)
from oversmoothing.metrics import METRICS

LABELS = {
    "tto": "TTO",
    "nsmd": "NSMD",
    "tv": "TV",
    "kl": "KL (nats)",
    "tbat": "TBAT",
    "entropy_difference": "Entropy difference (bits)",
}
FACTS = {name: (metric.unit, metric.better) for name, metric in METRICS.items()} | {"tbat": ("probability", "lower")}
DIFFERENCES = {"data": "another corpus", "scale": "larger models", "truth": "another truth", "tau": "another tau"} | {
    "delta": "another delta",
    "condition": "another condition in BAT",
}
BOTH = {"mean": "both of its truths"}  # in Table 6.1
OF_TBAT_ALONE = {"delta", "condition"}


def read_published(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read transcribed tables of the thesis: ``model``, ``truth``, ``metric``, ``decoding``, ``mean``, ``sd``."""
    return pd.concat([read_csv(path, dtype={"model": str}) for path in paths], ignore_index=True)


def missing_summaries(
    summaries: Sequence[Mapping[str, Any]], missing: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Give empty rows for models that are not finished, so that a table of those that are shows their places.

    Parameters
    ----------
    summaries : sequence of mappings
        Of the finished models (see `beside_published`).
    missing : sequence of (metric, model)

    Returns
    -------
    list of dict
        One row per truth and decoding that the metric has in `summaries`, with neither mean nor spread; of a metric
        that no model has yet there are none.
    """
    empty = dict.fromkeys(["mean", "sd", "low", "high"], float("nan")) | {"n": None}
    return [
        {"metric": metric, "model": model, "truth": truth, "decoding": decoding, **empty}
        for metric, model in missing
        for truth, decoding in dict.fromkeys(
            (row["truth"], row["decoding"]) for row in summaries if row["metric"] == metric
        )
    ]


def beside_published(
    summaries: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
) -> pd.DataFrame:
    """Set each model's mean scores beside the thesis's.

    Parameters
    ----------
    summaries : DataFrame
        ``model``, ``truth`` (None where the metric needs none), ``metric``, ``decoding``, ``mean``, ``sd``, ``n``,
        ``low``, ``high``; one row each.
    models, truths : sequence of mappings
        ``model``, ``rank``, ``seed``, ``published_as``, ``differs`` of each (see the workflow's plan).
    published : DataFrame
        As `read_published` gives it.

    Returns
    -------
    DataFrame
        One row per truth, metric, decoding and model, in the order given. ``published_mean`` and ``published_sd``
        stand where the thesis has that rank; ``published_differs`` names in what the thesis's setting is another
        one: data, scale (size of the models), truth, rank.
    """
    model_facts = pd.DataFrame(models).set_index("model")
    truth_facts = pd.DataFrame([*truths, {"model": "", "published_as": "", "differs": []}]).set_index("model")
    cells = published.fillna({"truth": ""}).set_index(["model", "truth", "metric", "decoding"])
    rows = []
    for row in summaries.fillna({"truth": ""}).to_dict("records"):
        model, truth = model_facts.loc[row["model"]], truth_facts.loc[row["truth"]]
        key = (model.published_as, truth.published_as, row["metric"], row["decoding"])
        known = key in cells.index
        unit, better = FACTS[row["metric"]]
        differs = [name for name in (*model.differs, *truth.differs) if _bears_on(row["metric"], name)]
        rows.append(
            {
                "truth": row["truth"] or None,
                "metric": row["metric"],
                "unit": unit,
                "better": better,
                "decoding": row["decoding"],
                "model": row["model"],
                "rank": model["rank"],
                "seed": model.seed,
                **{name: row[name] for name in ("mean", "sd", "n", "low", "high")},
                "published_model": model.published_as if known else None,
                "published_truth": (truth.published_as or None) if known else None,
                "published_mean": cells.loc[key, "mean"] if known else None,
                "published_sd": cells.loc[key, "sd"] if known else None,
                "published_differs": " ".join(dict.fromkeys(differs)) if known else None,
            }
        )
    table = pd.DataFrame(rows).astype({"rank": "Int64", "seed": "Int64", "n": "Int64"})
    orders = {
        "truth": [*truth_facts.index],
        "metric": list(dict.fromkeys(summaries.metric)),
        "decoding": list(dict.fromkeys(summaries.decoding)),
        "model": list(model_facts.index),
    }
    return table.sort_values(
        list(orders), key=lambda column: column.fillna("").map(orders[column.name].index), ignore_index=True
    )


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str, across: str = "metric") -> None:
    """Write the table to be read: one section per truth, a row per model, ours beside the published.

    Parameters
    ----------
    table : DataFrame
        As `beside_published` gives it.
    paths : paths
        Each .md or .html.
    title : str
    across : {"metric", "decoding"}
        What the columns are.
    """
    sections = []
    for truth, part in table.groupby("truth", sort=False, dropna=False):
        heading = f"{_against(truth, '`')}{_beside(part)}" if table.truth.notna().any() else ""
        sections.append((heading, _wide(part, across, markdown_cell)))
    write_page(paths, title, sections, _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str, across: str = "metric") -> None:
    """Write the same as LaTeX tables, one per truth."""
    tables = []
    for truth, part in table.groupby("truth", sort=False, dropna=False):
        wide = _wide(part, across, latex_cell)
        wide[["rank", *wide.columns.intersection(["metric"])]] = wide[
            ["rank", *wide.columns.intersection(["metric"])]
        ].map(latex_text)
        tables.append((wide, f"{title} {_against(truth)}{_beside(part)}. {_legend(part, intervals=False)}"))
    write_latex_tables(path, tables)


def _bears_on(metric: str, difference: str) -> bool:
    return difference != "tau" if metric == "tbat" else difference not in OF_TBAT_ALONE


def _wide(part: pd.DataFrame, across: str, cell: Any) -> pd.DataFrame:
    """Turn tidy rows into one row per model and, per metric or decoding, one column of ours and one published.

    Where decodings are the columns and there are several metrics, each has a row of its own.
    """
    several_seeds = part.seed.nunique() > 1
    split = across == "decoding" and part.metric.nunique() > 1
    rows = []
    for _, own in part.groupby(["model", "metric"] if split else ["model"], sort=False):
        row = model_cells(own.iloc[0].to_dict(), several_seeds)
        if split:
            row["metric"] = _label(own.iloc[0])
        for record in own.to_dict("records"):
            best = _best(part[(part.metric == record["metric"]) & (part.decoding == record["decoding"])])
            column = record["decoding"] if across == "decoding" else LABELS[record["metric"]]
            ours = cell(record["mean"], record["sd"], record["low"], record["high"], record["mean"] == best)
            row[column if split else f"{column} {ARROWS[record['better']]}"] = (
                MISSING if pd.isna(record["mean"]) else ours
            )
            row[f"published {column}"] = cell(record["published_mean"], record["published_sd"])
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _label(row: pd.Series) -> str:
    return f"{LABELS[row.metric]} {ARROWS[row.better]}"


def _best(rows: pd.DataFrame) -> float:
    return rows["mean"].min() if rows.better.iloc[0] == "lower" else rows["mean"].max()


def _against(truth: str | None, quote: str = "") -> str:
    return "Of the model alone, without a truth" if pd.isna(truth) else f"Against {quote}{truth}{quote}"


def _beside(part: pd.DataFrame) -> str:
    names = part.published_truth.dropna().unique()
    return f", beside the thesis's values against {BOTH.get(names[0], names[0])}" if len(names) else ""


def _legend(table: pd.DataFrame, intervals: bool = True) -> str:
    """Say how to read the cells, and in what the published setting is another one."""
    parts = [f"Mean ± standard deviation over {int(table.n.max()):,} positions"]
    if intervals:
        parts[0] += " [95 % interval of the mean, from a bootstrap over whole windows]"
    ways = [f"{ARROWS[better]} {better} is better" for better in dict.fromkeys(table.better)]
    parts.append(f"{', '.join(ways)}; bold: the best of ours")
    differs = set(" ".join(table.published_differs.dropna()).split())
    if others := [DIFFERENCES[name] for name in DIFFERENCES if name in differs]:
        parts.append(f"The published values come from {' and '.join(others)}: compare trends, not levels")
    parts += stand_ins(table)
    return ". ".join(parts) + "."
