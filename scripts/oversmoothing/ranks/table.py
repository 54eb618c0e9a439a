"""From measured ranks to Table 7.3: how many dimensions each representation uses, the thesis's beside ours."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.layout import MISSING, latex_text, model_cells, read_csv, stand_ins, write_latex_tables, write_page
from oversmoothing.published import DIFFERENCES

REPRESENTATIONS = {
    "logits": "logits",
    "probabilities": "probabilities",
    "post": "post-bottleneck",
    "pre": "pre-bottleneck",
    "head": "W",
    "reachable_head": "reachable W",
}
OF_POSITIONS = ("logits", "probabilities", "post", "pre")
PUBLISHED_MEASURE = "effective_rank"
PUBLISHED_NAMES = {"post_bottleneck": "post", "pre_bottleneck": "pre"}
MATTERS = ("data", "scale", "rank")  # of what a setting may differ in; no truth or threshold of a metric is in a rank


def read_published_ranks(path: str | Path) -> pd.DataFrame:
    """Read the transcription of Table 7.3: ``model``, ``representation`` as it is named here, ``mean``."""
    return read_csv(path, dtype={"model": str}).replace({"representation": PUBLISHED_NAMES})


def ranks_table(
    ranks: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
    missing: Collection[str] = (),
) -> pd.DataFrame:
    """Set each model's ranks beside the thesis's effective ranks.

    Parameters
    ----------
    ranks : DataFrame
        ``model``, ``representation``, ``measure``, ``value``, ``n``, ``d`` (see `ranks.measure.RANKS`).
    models : sequence of mappings
        ``model``, ``rank``, ``seed``, ``published_as``, ``differs`` of each (see the workflow's plan).
    published : DataFrame
        As `read_published_ranks` gives it.
    missing : collection of str
        Models that are not finished; of ours, their rows are empty.

    Returns
    -------
    DataFrame
        One row per measure, model and representation, in the order given. ``published_value`` stands beside the
        effective rank where the thesis has that model; ``published_differs`` names in what its setting is another
        one: data, scale, rank.
    """
    cells = published.set_index(["model", "representation"])["mean"]
    own = ranks.set_index(["measure", "model", "representation"])
    rows = []
    for measure in ranks.measure.unique():
        of_measure = set(ranks.representation[ranks.measure == measure])
        for model in models:
            for representation in REPRESENTATIONS:
                place = (measure, model["model"], representation)
                absent = model["model"] in missing and representation in of_measure
                if place not in own.index and not absent:
                    continue
                found = dict.fromkeys(["value", "n", "d"]) if absent else own.loc[place]
                key = (model["published_as"], representation)
                known = measure == PUBLISHED_MEASURE and key in cells.index
                differs = [name for name in model["differs"] if name in MATTERS]
                rows.append(
                    {
                        "measure": measure,
                        **{name: model[name] for name in ("model", "rank", "seed")},
                        "representation": representation,
                        **{name: found[name] for name in ("value", "n", "d")},
                        "published_model": model["published_as"] if known else None,
                        "published_value": cells[key] if known else None,
                        "published_differs": " ".join(differs) if known else None,
                    }
                )
    return pd.DataFrame(rows).astype({"value": float} | dict.fromkeys(["rank", "seed", "n", "d"], "Int64"))


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str, positions: int, threshold: float) -> None:
    """Write the table to be read: a section per measure, a row per model.

    Parameters
    ----------
    table : DataFrame
        As `ranks_table` gives it.
    paths : paths
        Each .md or .html.
    title : str
    positions : int
        How many the config asks for.
    threshold : float
        Share of the largest singular value.
    """
    headings = _headings(threshold)
    sections = [(headings[name], _wide(part, "-")) for name, part in table.groupby("measure", sort=False)]
    write_page(paths, title, sections, _legend(table, positions))


def write_latex(table: pd.DataFrame, path: str | Path, title: str, positions: int, threshold: float) -> None:
    """Write the same as LaTeX tables, one per measure."""
    headings = _headings(threshold)
    tables = []
    for name, part in table.groupby("measure", sort=False):
        wide = _wide(part, "--")
        wide["rank"] = wide["rank"].map(latex_text)
        tables.append((wide, f"{title} {headings[name]}. {_legend(part, positions)}"))
    write_latex_tables(path, tables)


def _headings(threshold: float) -> dict[str, str]:
    return {
        "effective_rank": "Effective rank: exp of the entropy of the singular values as shares of their sum",
        "above_threshold": f"Singular values above {100 * threshold:g} % of the largest",
        "numerical_rank": "Numerical rank: singular values above the roundoff of float32",
    }


def _wide(part: pd.DataFrame, none: str) -> pd.DataFrame:
    several_seeds = part.seed.nunique() > 1
    beside = set(part.representation[part.published_value.notna()])
    decimals = 2 if part.measure.iloc[0] == "effective_rank" else 0
    rows = []
    for _, own in part.groupby("model", sort=False):
        row = model_cells(own.iloc[0].to_dict(), several_seeds)
        records = own.set_index("representation")
        for name, label in REPRESENTATIONS.items():
            if name not in set(part.representation):
                continue
            row[label] = none
            if name in records.index:
                value = records.value[name]
                row[label] = MISSING if pd.isna(value) else f"{value:.{decimals}f}"
            if name in beside:
                known = name in records.index and pd.notna(records.published_value[name])
                row[f"published {label}"] = f"{records.published_value[name]:.{decimals}f}" if known else none
        rows.append(row)
    return pd.DataFrame(rows)


def _legend(table: pd.DataFrame, positions: int) -> str:
    drawn = int(table.n[table.representation.isin(OF_POSITIONS)].min())
    which = f"{drawn:,} positions drawn at random over all windows, the same for every model"
    if drawn < positions:
        which = f"all {drawn:,} positions of this run, fewer than the {positions:,} that the config asks for"
    parts = [
        f"Over {which}; nothing is centred. Pre-bottleneck is what enters the bottleneck, post-bottleneck what enters "
        "the head, W the head"
    ]
    reachable = table[table.representation == "reachable_head"]
    if len(reachable):
        parts.append(
            "Reachable W is what the LayerNorm in front of the head leaves of it: W times its gain, on vectors of sum "
            "zero, so of rank r - 1 at most"
        )
    beside = table[table.published_value.notna()]
    if len(beside):
        parts.append("The published values are over 1,024 prompts")
        differs = set(" ".join(beside.published_differs).split())
        if others := [DIFFERENCES[name] for name in DIFFERENCES if name in differs]:
            parts.append(f"They come from {' and '.join(others)}: compare trends, not levels")
    behind = beside[beside.model.isin(reachable.model) & (beside.published_model == beside["rank"].astype(str))]
    above = behind[behind.representation.isin(["logits", "post"]) & (behind.published_value > behind["rank"] - 1)]
    for row in above.drop_duplicates(["published_model", "representation"]).to_dict("records"):
        parts.append(
            f"The published {row['published_value']:.2f} of the {REPRESENTATIONS[row['representation']]} at rank "
            f"{row['rank']} is more than the r - 1 that a LayerNorm after the bottleneck allows; it probably carries "
            "rounding to bfloat16"
        )
    parts += stand_ins(beside)
    return ". ".join(parts) + "."
