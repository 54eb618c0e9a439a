"""From summaries of scores to the tables that people read: tidy CSV, Markdown and LaTeX."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.metrics import METRICS
from oversmoothing.store.atomic import atomic_path

LABELS = {"tto": "TTO", "nsmd": "NSMD", "tv": "TV", "kl": "KL (nats)"}
DIFFERENCES = {"data": "another corpus", "scale": "larger models", "truth": "another truth", "tau": "another tau"}
ARROWS = {"lower": "↓", "higher": "↑"}


def read_published(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read transcribed tables of the thesis: ``model``, ``truth``, ``metric``, ``decoding``, ``mean``, ``sd``."""
    return pd.concat([pd.read_csv(path, dtype={"model": str}) for path in paths], ignore_index=True)


def oversmoothing_table(
    summaries: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
) -> pd.DataFrame:
    """Set each model's mean scores under pure sampling beside the thesis's (Tables 4.1 and 4.2).

    Parameters
    ----------
    summaries : DataFrame
        ``model``, ``truth``, ``metric``, ``mean``, ``sd``, ``n``, ``low``, ``high``; one row each.
    models, truths : sequence of mappings
        ``model``, ``rank``, ``seed``, ``published_as``, ``differs`` of each (see the workflow's plan).
    published : DataFrame
        As `read_published` gives it.

    Returns
    -------
    DataFrame
        One row per truth, metric and model, in the order given. ``published_mean`` and ``published_sd`` stand where
        the thesis has that rank; ``published_differs`` names in what the thesis's setting is another one: data,
        scale (size of the models), truth, rank.
    """
    model_facts = pd.DataFrame(models).set_index("model")
    truth_facts = pd.DataFrame(truths).set_index("model")
    cells = published[published.decoding == "pure"].set_index(["model", "truth", "metric"])
    rows = []
    for row in summaries.to_dict("records"):
        model, truth = model_facts.loc[row["model"]], truth_facts.loc[row["truth"]]
        key = (model.published_as, truth.published_as, row["metric"])
        known = key in cells.index
        rows.append(
            {
                "truth": row["truth"],
                "metric": row["metric"],
                "unit": METRICS[row["metric"]].unit,
                "better": METRICS[row["metric"]].better,
                "model": row["model"],
                "rank": model["rank"],
                "seed": model.seed,
                **{name: row[name] for name in ("mean", "sd", "n", "low", "high")},
                "published_model": model.published_as if known else None,
                "published_truth": truth.published_as if known else None,
                "published_mean": cells.loc[key, "mean"] if known else None,
                "published_sd": cells.loc[key, "sd"] if known else None,
                "published_differs": " ".join(dict.fromkeys([*model.differs, *truth.differs])) if known else None,
            }
        )
    table = pd.DataFrame(rows).astype({"rank": "Int64", "seed": "Int64"})
    orders = {
        "truth": list(truth_facts.index),
        "metric": list(dict.fromkeys(summaries.metric)),
        "model": list(model_facts.index),
    }
    return table.sort_values(
        ["truth", "metric", "model"], key=lambda column: column.map(orders[column.name].index)
    ).reset_index(drop=True)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write the tidy table; numbers keep six significant digits."""
    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.6g")


def write_markdown(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the table to be read: one section per truth, a row per model, ours beside the published."""
    lines = [f"# {title}", ""]
    for truth, part in table.groupby("truth", sort=False):
        lines += [f"## Against `{truth}`{_beside(part)}", ""]
        lines += [_wide(part, _markdown_cell).to_markdown(index=False, disable_numparse=True), ""]
    lines += [_legend(table), ""]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as LaTeX tables (packages booktabs and graphicx)."""
    parts = []
    for truth, part in table.groupby("truth", sort=False):
        wide = _wide(part, _latex_cell).rename(columns=lambda name: _latex_text(str(name)))
        wide["rank"] = wide["rank"].map(_latex_text)
        body = wide.style.hide(axis="index").to_latex(hrules=True, column_format="l" + "r" * (wide.shape[1] - 1))
        caption = _latex_text(f"{title} Against {truth}{_beside(part)}. {_legend(part, intervals=False)}")
        parts.append(
            "\\begin{table}\n\\centering\n\\resizebox{\\linewidth}{!}{%\n"
            + body.strip()
            + f"}}\n\\caption{{{caption}}}\n\\end{{table}}\n"
        )
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(parts), encoding="utf-8")


def _wide(part: pd.DataFrame, cell: Any) -> pd.DataFrame:
    """Turn tidy rows into one row per model and, per metric, one column of ours and one of the thesis's."""
    several_seeds = part.seed.nunique() > 1
    rows = []
    for model, own in part.groupby("model", sort=False):
        first = own.iloc[0]
        row = {"rank": str(first["rank"]) if pd.notna(first["rank"]) else str(model)}
        if several_seeds:
            row["seed"] = str(first["seed"]) if pd.notna(first["seed"]) else "-"
        for record in own.to_dict("records"):
            best = _best(part[part.metric == record["metric"]], record["better"])
            label = f"{LABELS[record['metric']]} {ARROWS[record['better']]}"
            row[label] = cell(record["mean"], record["sd"], record["low"], record["high"], record["mean"] == best)
            row["published " + LABELS[record["metric"]]] = cell(
                record["published_mean"], record["published_sd"], None, None, False
            )
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _best(rows: pd.DataFrame, better: str) -> float:
    return rows["mean"].min() if better == "lower" else rows["mean"].max()


def _markdown_cell(mean: float, sd: float, low: float | None, high: float | None, best: bool) -> str:
    if pd.isna(mean):
        return "-"
    number = f"**{mean:.3f}**" if best else f"{mean:.3f}"
    interval = f" [{low:.3f}, {high:.3f}]" if low is not None and not pd.isna(low) else ""
    return f"{number} ± {sd:.3f}{interval}"


def _latex_cell(mean: float, sd: float, low: float | None, high: float | None, best: bool) -> str:
    if pd.isna(mean):
        return "--"
    number = rf"\mathbf{{{mean:.3f}}}" if best else f"{mean:.3f}"
    return rf"${number} \pm {sd:.3f}$"


def _latex_text(text: str) -> str:
    for plain, escaped in (
        ("±", r"$\pm$"),
        ("%", r"\%"),
        ("_", r"\_"),
        ("`", ""),
        ("↓", r"$\downarrow$"),
        ("↑", r"$\uparrow$"),
    ):
        text = text.replace(plain, escaped)
    return text


def _beside(part: pd.DataFrame) -> str:
    names = part.published_truth.dropna().unique()
    return f", beside the thesis's values against {names[0]}" if len(names) else ""


def _legend(table: pd.DataFrame, intervals: bool = True) -> str:
    """Say how to read the cells, and in what the published setting is another one."""
    parts = [f"Mean ± standard deviation over {int(table.n.max()):,} positions"]
    if intervals:
        parts[0] += " [95 % interval of the mean, from a bootstrap over whole windows]"
    parts.append("↓ lower is better; bold: the best of ours")
    differs = set(" ".join(table.published_differs.dropna()).split())
    if others := [DIFFERENCES[name] for name in DIFFERENCES if name in differs]:
        parts.append(f"The published values come from {' and '.join(others)}: compare trends, not levels")
    stand_ins = table[table.published_differs.fillna("").str.contains("rank")].drop_duplicates("model")
    parts += [
        f"Rank {row['rank']} stands beside the thesis's {row['published_model']}"
        for row in stand_ins.to_dict("records")
    ]
    return ". ".join(parts) + "."
