"""From losses and scores to the table of three ways to impose a rank."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.layout import (
    ARROWS,
    latex_cell,
    markdown_cell,
    model_cells,
    write_latex_tables,
    write_page,
)
from oversmoothing.metrics import METRICS
from oversmoothing.statistics import Summary

WAYS = {
    "family": "learned from scratch",
    "svd": "truncated",
    "retrained": "retrained",
}
MEASURES = {
    "loss": ("loss (nats)", "nats per byte", "lower"),
    "accuracy": ("accuracy", "share of bytes", "higher"),
    "tto": ("TTO", METRICS["tto"].unit, METRICS["tto"].better),
    "nsmd": ("NSMD", METRICS["nsmd"].unit, METRICS["nsmd"].better),
    "tv": ("TV", METRICS["tv"].unit, METRICS["tv"].better),
    "kl": ("KL (nats)", METRICS["kl"].unit, METRICS["kl"].better),
}


def imposed_rank_table(
    summaries: Mapping[tuple[str, str, str | None], Summary], models: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Set the three ways under one another.

    Parameters
    ----------
    summaries : mapping
        From model, measure (a key of `MEASURES`) and truth (None for loss and accuracy) to its summary.
    models : sequence of mappings
        ``model``, ``kind`` (a key of `WAYS`), ``rank``, ``seed`` of each.

    Returns
    -------
    DataFrame
        ``way``, ``model``, ``rank``, ``seed``, ``truth``, ``measure``, ``unit``, ``better``, ``mean``, ``sd``, ``n``,
        ``low``, ``high``; by seed, then rank, then way.
    """
    order = sorted(models, key=lambda model: (model["seed"], model["rank"], list(WAYS).index(model["kind"])))
    rows = []
    for model in order:
        for measure, (_, unit, better) in MEASURES.items():
            for (name, found, truth), summary in summaries.items():
                if (name, found) == (model["model"], measure):
                    facts = {"way": WAYS[model["kind"]], **{key: model[key] for key in ("model", "rank", "seed")}}
                    rows.append(
                        {**facts, "truth": truth, "measure": measure, "unit": unit, "better": better, **vars(summary)}
                    )
    return pd.DataFrame(rows).astype(dict.fromkeys(["rank", "seed", "n"], "Int64"))


def against(table: pd.DataFrame, truth: str) -> pd.DataFrame:
    """Keep what is against one truth, and what is against none."""
    return table[table.truth.isna() | (table.truth == truth)]


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: one section per truth, a row per rank and way, the best way of a rank in bold.

    Parameters
    ----------
    table : DataFrame
        As `imposed_rank_table` gives it.
    paths : paths
        Each .md or .html.
    title : str
    """
    sections = [(f"Against `{truth}`", _wide(against(table, truth), markdown_cell)) for truth in _truths(table)]
    write_page(paths, title, sections, _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as LaTeX tables, one per truth."""
    tables = [
        (_wide(against(table, truth), latex_cell), f"{title} Against {truth}. {_legend(table)}")
        for truth in _truths(table)
    ]
    write_latex_tables(path, tables)


def _truths(table: pd.DataFrame) -> list[str]:
    return list(table.truth.dropna().unique())


def _wide(table: pd.DataFrame, cell: Callable[..., str]) -> pd.DataFrame:
    several_seeds = table.seed.nunique() > 1
    rows = []
    for (seed, rank), alike in table.groupby(["seed", "rank"], sort=False):
        ways = alike.way.nunique()
        for way, own in alike.groupby("way", sort=False):
            row = {**model_cells({"rank": rank, "seed": seed}, several_seeds), "way": str(way)}
            for record in own.to_dict("records"):
                label, _, better = MEASURES[record["measure"]]
                rivals = alike["mean"][alike.measure == record["measure"]]
                best = ways > 1 and record["mean"] == (rivals.min() if better == "lower" else rivals.max())
                row[f"{label} {ARROWS[better]}"] = cell(
                    record["mean"], float("nan"), record["low"], record["high"], best
                )
            rows.append(row)
    return pd.DataFrame(rows)


def _legend(table: pd.DataFrame) -> str:
    count = int(table.n.max())
    ways = set(table.way)
    parts = [
        f"Mean [95 % interval, from a bootstrap over whole windows] of the same {count:,} evaluation bytes, under pure "
        "decoding; bold: the best way of a rank",
    ]
    parts.append(
        "Learned from scratch: the family, trained with a bottleneck of that width before the head; a LayerNorm behind "
        "the bottleneck takes one dimension more"
    )
    if WAYS["svd"] in ways:
        parts.append("Truncated: the full model's head without its smallest singular values, nothing trained")
    if WAYS["retrained"] in ways:
        parts.append(
            "Retrained: a head W = A B of that rank, trained on what enters the full model's head, everything before "
            "it as it was (Godey et al. 2024)"
        )
    parts.append("↓ lower is better, ↑ higher is better")
    return ". ".join(parts) + "."
