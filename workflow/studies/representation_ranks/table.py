"""Table 7.3: how many dimensions each representation uses, beside the thesis's values."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, Value, model_cells
from oversmoothing.tables.published import beside, by_key, caveats, that_matter

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


def ranks_table(ranks: pd.DataFrame, models: Sequence[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """Ranks of each model's representations, beside the thesis's effective ranks.

    Parameters
    ----------
    ranks : DataFrame
        ``model``, ``representation``, ``measure``, ``value``, ``n``, ``d`` (see `measure.RANKS`).
    models : sequence of mappings
        ``model``, ``rank``, ``seed``, ``published_as``, ``differs`` of each (see the workflow's plan).
    published : DataFrame
        ``model``, ``representation``, ``mean``.

    Returns
    -------
    DataFrame
        One row per measure, model and representation, in the order given. ``published_value`` is the thesis's
        effective rank where it has that model; ``published_differs`` lists the settings that differ: data, scale,
        rank.
    """
    printed = by_key(published.rename(columns={"mean": "value"}), "model", "representation")
    own = ranks.set_index(["measure", "model", "representation"])
    rows = []
    for measure in ranks.measure.unique():
        for model in models:
            for representation in REPRESENTATIONS:
                place = (measure, model["model"], representation)
                if place not in own.index:
                    continue
                key = (model["published_as"], representation) if measure == PUBLISHED_MEASURE else ()
                rows.append(
                    {
                        "measure": measure,
                        **{name: model[name] for name in ("model", "rank", "seed")},
                        "representation": representation,
                        **{name: own.loc[place, name] for name in ("value", "n", "d")},
                        **beside(printed, key, that_matter(model["differs"]), ["value"]),
                    }
                )
    return pd.DataFrame(rows).astype({"value": float} | dict.fromkeys(["rank", "seed", "n", "d"], "Int64"))


def ranks_page(table: pd.DataFrame, title: str, positions: int, threshold: float) -> Page:
    """Page with a section per measure and a row per model.

    Parameters
    ----------
    table : DataFrame
        See `ranks_table`.
    title : str
    positions : int
        Number of positions that the config asks for.
    threshold : float
        As a share of the largest singular value.
    """
    headings = {
        "effective_rank": "Effective rank: exp of the entropy of the singular values as shares of their sum",
        "above_threshold": f"Singular values above {100 * threshold:g} % of the largest",
        "numerical_rank": "Numerical rank: singular values above the roundoff of float32",
    }
    sections = [
        Section(headings[str(name)], _rows(part), notes=_on_published(part, table))
        for name, part in table.groupby("measure", sort=False)
    ]
    return Page(title, sections, _legend(table, positions))


def _rows(part: pd.DataFrame) -> list[dict[str, Cell]]:
    several_seeds = part.seed.nunique() > 1
    known = set(part.representation)
    printed = set(part.representation[part.published_value.notna()])
    decimals = 2 if part.measure.iloc[0] == "effective_rank" else 0
    rows = []
    for _, own in part.groupby("model", sort=False):
        row = model_cells(own.iloc[0].to_dict(), several_seeds)
        records = own.set_index("representation").to_dict("index")
        for name, label in REPRESENTATIONS.items():
            found = records.get(name, {})
            if name in known:
                row[label] = Value(found.get("value"), decimals=decimals)
            if name in printed:
                row[f"published {label}"] = Value(found.get("published_value"), decimals=decimals)
        rows.append(row)
    return rows


def _legend(table: pd.DataFrame, positions: int) -> list[str]:
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
    return parts


def _on_published(part: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    printed = part[part.published_value.notna()]
    if not len(printed):
        return []
    reachable = table[table.representation == "reachable_head"]
    parts = ["The published values are over 1,024 prompts"]
    behind = printed[printed.model.isin(reachable.model) & (printed.published_model == printed["rank"].astype(str))]
    above = behind[behind.representation.isin(["logits", "post"]) & (behind.published_value > behind["rank"] - 1)]
    for row in above.drop_duplicates(["published_model", "representation"]).to_dict("records"):
        parts.append(
            f"The published {row['published_value']:.2f} of the {REPRESENTATIONS[row['representation']]} at rank "
            f"{row['rank']} is more than the r - 1 that a LayerNorm after the bottleneck allows; it probably carries "
            "rounding to bfloat16"
        )
    return parts + caveats(printed)
