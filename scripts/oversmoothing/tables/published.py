"""The thesis's published tables: reading them, joining them to ours, and sentences on the differences."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.layout import read_csv

DIFFERENCES = {
    "data": "another corpus",
    "scale": "larger models",
    "recipe": "another recipe of training",
    "truth": "another truth",
    "tau": "another tau",
    "delta": "another delta",
    "condition": "another condition in BAT",
    "length": "samples of another length or number",
    "language_model": "another language model",
    "text": "another part of the samples",
}
OF_METRICS = {setting for metric in METRICS.values() for setting in metric.settings}
REPRESENTATIONS = {"post_bottleneck": "post", "pre_bottleneck": "pre"}  # as they are named here

Rows = Mapping[tuple[str, ...], Mapping[Hashable, Any]]


def read_published(paths: str | Path | Sequence[str | Path]) -> pd.DataFrame:
    """Read one or several transcribed tables, stacked; of none, as for models over tokens, a table without rows."""
    paths = [paths] if isinstance(paths, str | Path) else paths
    if not paths:
        return pd.DataFrame({"model": []}, dtype=str)
    table = pd.concat([read_csv(path, dtype={"model": str}) for path in paths], ignore_index=True)
    return table.replace({"representation": REPRESENTATIONS}) if "representation" in table else table


def by_key(published: pd.DataFrame, *keys: str) -> Rows:
    """Return published rows by their key columns; "" where a key is missing."""
    named = published.fillna(dict.fromkeys(keys, ""))
    return {tuple(row[key] for key in keys): row for row in named.to_dict("records")}


def printed(published: Rows, key: tuple[Any, ...], differs: Iterable[str] = ()) -> dict[str, Any]:
    """Return columns of the record that the published row of a key adds to a row of ours; none without such a row.

    `differs` names the settings in which ours differs: keys of `DIFFERENCES`, and "rank".
    """
    row = published.get(key)
    if row is None:
        return {}
    return {
        "published": row["mean"],
        "published_sd": row.get("sd"),
        "published_model": row["model"],
        "published_differs": " ".join(dict.fromkeys(differs)),
    }


def that_matter(differs: Iterable[str], metric: str | None = None) -> list[str]:
    """Return differences that can affect a metric's values.

    Without a metric, those that belong to no metric's settings.
    """
    settings = METRICS[metric].settings if metric else ()
    return [name for name in differs if name not in OF_METRICS or name in settings]


def caveats(table: pd.DataFrame, compare: str = "trends, not levels") -> list[str]:
    """Return sentences under a table: how the published setting differs, and which ranks stand beside other ranks."""
    differs = set(" ".join(table.published_differs.dropna()).split())
    named = [words for name, words in DIFFERENCES.items() if name in differs]
    sentences = [f"The published values come from {listed(named)}: compare {compare}"] if named else []
    return sentences + stand_ins(table)


def stand_ins(table: pd.DataFrame) -> list[str]:
    """Return sentences that list our ranks that stand beside a different rank of the thesis."""
    pairs = table[["rank", "published_model"]].dropna().drop_duplicates().astype(str)
    return [
        f"Rank {rank} stands beside the thesis's {published}"
        for rank, published in pairs.itertuples(index=False)
        if published.isdigit() and rank != published
    ]


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
