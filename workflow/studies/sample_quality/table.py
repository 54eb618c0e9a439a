"""Summaries of sample quality per set and metric, beside the human value and the thesis's."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import WindowSums, summarise
from oversmoothing.store.parquet import open_reader, read_table
from oversmoothing.tables.published import Rows, by_key, printed, read_published, that_matter
from oversmoothing.tables.record import facts, record
from studies.sample_quality.metrics import MEASURES

HUMAN, SECOND = "human", "human, second set"
PUBLISHED_HUMAN = "Human"
UNKNOWN = {"low": np.nan, "high": np.nan}
WINDOWS = {"count": 100, "prompt": 100, "scored": 500}  # the thesis's


def summarise_quality(path: str | Path, resamples: int, seed: int) -> list[dict[str, Any]]:
    """Return the mean, standard deviation and interval of every metric in one file of `measure.QUALITY`.

    Of a metric of the whole set, ``mean`` is its value, ``sd`` and ``resampled_mean`` are those of its values in draws
    of windows, and there is no interval; the others have one by a bootstrap over windows. ``note`` explains a missing
    value.
    """
    table = read_table(path, ["decoding", "metric", "window", "resample", "value", "note"]).to_pandas()
    sizes = table[table.window.notna()].groupby("decoding", observed=True).window.nunique()
    rows = []
    for (decoding, metric), part in table.groupby(["decoding", "metric"], sort=False, observed=True):
        whole = MEASURES[metric].of_set
        summary = _of_set(part, int(sizes[decoding])) if whole else _of_samples(part, resamples, seed)
        rows.append({"decoding": decoding, "metric": metric, **summary})
    places = {name: i for i, name in enumerate([*dict.fromkeys(table.decoding), *MEASURES])}
    return sorted(rows, key=lambda row: (places[row["decoding"]], places[row["metric"]]))


def of_human(summaries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the summaries of human texts as those of the models `HUMAN` and `SECOND`, which have no decoding."""
    return [{**row, "model": {"first": HUMAN, "second": SECOND}[row["decoding"]], "decoding": ""} for row in summaries]


def read_with_gpt2_large(path: str | Path) -> bool:
    """Whether a quality file was made with the thesis's language model."""
    with open_reader(path) as reader:
        return (reader.schema_arrow.metadata or {}).get(b"gpt2_large") == b"True"


def read_cells(family: Sequence[str | Path], svd: str | Path) -> Rows:
    """Read Tables 5.3, 6.2, 6.3 and H.1, by kind ("family", "svd", "human"), model, decoding and metric."""
    tables = [read_published(family).assign(kind="family"), read_published(svd).assign(kind="svd")]
    stacked = pd.concat(tables, ignore_index=True)
    stacked.loc[stacked.model == PUBLISHED_HUMAN, "kind"] = "human"
    return by_key(stacked, "kind", "model", "decoding", "metric")


def sets_of_models(
    family: Iterable[Mapping[str, Any]], truths: Iterable[Mapping[str, Any]], svd: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the sets of samples that a table may hold, with what it prints about each; the human texts come last.

    The rows are those of the plan (`plan.thesis.compared`), with ``kind``. A truncated head stands beside the
    thesis's of the same rank, and differs from it where the family does.
    """
    family = [dict(row) for row in family]
    shared = list(dict.fromkeys(name for row in family for name in row["differs"] if name != "rank"))
    human = {"rank": None, "seed": None, "differs": ["data"] if "data" in shared else []}
    return [
        *({**row, "kind": "family"} for row in family),
        *({**row, "kind": "truth", "published_as": None} for row in truths),
        *({**row, "kind": "svd", "differs": shared} for row in svd),
        {**human, "kind": "human", "model": HUMAN, "published_as": PUBLISHED_HUMAN},
        {**human, "kind": "human", "model": SECOND, "published_as": None},
    ]


def beside_human(
    summaries: Sequence[Mapping[str, Any]],
    sets: Sequence[Mapping[str, Any]],
    published: Rows,
    gpt2_large: bool,
    windows: Mapping[str, int],
    completed: Collection[str],
) -> pd.DataFrame:
    """Return a record of each summary beside the human value and the thesis's, in the order of the sets.

    `summaries` are as `summarise_quality` returns them, with ``model``, and those of `of_human`; `sets` as
    `sets_of_models` returns them, `published` as `read_cells`. `gpt2_large` says whether the language model is the
    thesis's; `windows` is the section of the config; metrics in `completed` include the partial last word of the
    prompt. Values follow the metric's definition; the thesis prints `metrics.Measure.published_factor` times that. The
    mean over draws of windows, of a metric of the whole set, is called ``mauve_resampled``. ``published_differs`` lists
    the settings that differ: data, scale, rank, length (length or number of samples), language_model, text (which part
    of a sample the metric reads).
    """
    described = {row["model"]: row for row in sets}
    length = [] if all(windows[key] == value for key, value in WINDOWS.items()) else ["length"]
    rows = []
    places = {row["model"]: i for i, row in enumerate(sets)}
    for row in sorted(summaries, key=lambda row: places[row["model"]]):
        samples, measure = described[row["model"]], MEASURES[row["metric"]]
        key = (samples["kind"], samples["published_as"] or "", row["decoding"], row["metric"])
        differs = that_matter(samples["differs"]) + length
        differs += ["language_model"] if measure.reads and not gpt2_large else []
        differs += ["text"] if (row["metric"] in completed) != measure.completed else []
        keys = {**facts(samples), "decoding": row["decoding"] or None, "unit": measure.unit}
        values = {"value": row["mean"], **{name: row[name] for name in ("sd", "n", "low", "high", "note")}}
        beside = printed(published, key, differs)
        rows.append({**keys, "measure": row["metric"], **values, "better": measure.better, **beside})
        if pd.notna(row.get("resampled_mean")):
            rows.append({**keys, "measure": f"{row['metric']}_resampled", "value": row["resampled_mean"]})
    return record(rows)


def _of_set(rows: pd.DataFrame, n: int) -> dict[str, Any]:
    value = rows.loc[rows["resample"].isna()].iloc[0]
    drawn = rows.loc[rows["resample"].notna(), "value"]
    note = None if pd.isna(value["note"]) else str(value["note"])
    return {
        "mean": value["value"],
        "sd": drawn.std(ddof=1),
        **UNKNOWN,
        "n": n,
        "resampled_mean": drawn.mean(),
        "note": note,
    }


def _of_samples(rows: pd.DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    here = rows[rows["value"].notna()]
    missing = rows[rows["value"].isna()]
    note = f"{len(missing)} left out: {missing['note'].iloc[0]}" if len(missing) else None
    if not len(here):
        return {"mean": np.nan, "sd": np.nan, **UNKNOWN, "n": 0, "note": note}
    sums = WindowSums()
    sums.add(here["window"].to_numpy(np.int64), here["value"].to_numpy(np.float64))
    return {**vars(summarise(sums, resamples, seed)), "note": note}
