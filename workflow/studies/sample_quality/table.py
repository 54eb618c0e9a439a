"""Table of sample quality and its page: each metric of each set of samples, beside the human value and the thesis's."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import LEVEL, WindowSums, summarise
from oversmoothing.store.parquet import open_reader, read_table
from oversmoothing.tables.page import AIMS, Cell, Page, Section, Value, by_model, labelled
from oversmoothing.tables.published import Rows, by_key, caveats, listed, printed, read_published, that_matter
from oversmoothing.tables.record import facts, numbers, record
from oversmoothing.tables.story import legend
from studies.sample_quality.byte_frequencies import count_bytes, rarest_bytes, relative_frequencies
from studies.sample_quality.metrics import MEASURES

HUMAN, SECOND = "human", "human, second set"
PUBLISHED_HUMAN = "Human"
RARE = "rare_bytes"  # share of the ten bytes that are rarest in the human text, which is not the second set
WINDOWS = {"count": 100, "prompt": 100, "scored": 500}  # the thesis's


def summarise_quality(path: str | Path, resamples: int, seed: int) -> list[dict[str, Any]]:
    """Return the rows of the record, without the model, of every decoding and metric in one file of `measure.QUALITY`.

    The value of a metric of samples is their mean, with an interval by a bootstrap over windows. A metric of the whole
    set has one value; ``sd`` is that of its values in draws of windows, and their mean is a row such as
    ``mauve_resampled``. ``note`` explains a missing value.
    """
    table = read_table(path, ["decoding", "metric", "window", "resample", "value", "note"]).to_pandas()
    windows = table.groupby("decoding", observed=True).window.nunique()
    rows = []
    for decoding in dict.fromkeys(table.decoding):
        for metric, measure in MEASURES.items():
            part = table[(table.decoding == decoding) & (table.metric == metric)]
            if part.empty:  # the language model did not read this set
                continue
            drawn = part["value"][part["resample"].notna()]
            if measure.of_set:
                (row,) = part[part["resample"].isna()].to_dict("records")
                summary = {"value": row["value"], "sd": drawn.std(ddof=1), "note": row["note"]}
                summary["n"] = int(windows[decoding])
            else:
                summary = _of_samples(part, resamples, seed)
            keys = {"decoding": decoding, "unit": measure.unit}
            rows.append({**keys, "measure": metric, "better": measure.better, **summary})
            if drawn.notna().any():
                rows.append({**keys, "measure": f"{metric}_resampled", "value": drawn.mean()})
    return rows


def of_human(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of both sets of human texts by model, `HUMAN` and `SECOND`, which have no decoding."""
    sets = ((HUMAN, "first"), (SECOND, "second"))
    return {model: [{**row, "decoding": None} for row in rows if row["decoding"] == name] for model, name in sets}


def read_with_gpt2_large(path: str | Path) -> bool:
    """Return whether a quality file was made with the thesis's language model."""
    with open_reader(path) as reader:
        return (reader.schema_arrow.metadata or {}).get(b"gpt2_large") == b"True"


def read_cells(family: Sequence[str | Path], svd: str | Path) -> Rows:
    """Read Tables 5.3, 6.2, 6.3 and H.1, by kind ("family", "svd", "human"), model, decoding and metric."""
    tables = [read_published(family).assign(kind="family"), read_published(svd).assign(kind="svd")]
    stacked = pd.concat(tables, ignore_index=True)
    stacked.loc[stacked.model == PUBLISHED_HUMAN, "kind"] = "human"
    return by_key(stacked, "kind", "model", "decoding", "metric")


def sets_of_models(
    family: Sequence[Mapping[str, Any]], truths: Sequence[Mapping[str, Any]], svd: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the sets of samples that a table may hold, rows of `plan.thesis.compared` with ``kind``, and human texts.

    A truncated head stands beside the thesis's of the same rank, and differs from it where the family does.
    """
    shared = list(dict.fromkeys(name for row in family for name in row["differs"] if name != "rank"))
    human = {"rank": None, "seed": None, "differs": ["data"] if "data" in shared else []}
    return [
        *({**row, "kind": "family"} for row in family),
        *({**row, "kind": "truth", "published_as": None} for row in truths),
        *({**row, "kind": "svd", "differs": shared} for row in svd),
        {**human, "kind": "human", "model": HUMAN, "published_as": PUBLISHED_HUMAN},
        {**human, "kind": "human", "model": SECOND, "published_as": None},
    ]


def differences(windows: Mapping[str, int], completed: Collection[str], gpt2_large: bool) -> dict[str, list[str]]:
    """Return the settings in which the measurement of each metric differs from the thesis's.

    They are length (of samples, or their number), language_model and text (which part of a sample the metric reads).
    """
    length = any(windows[key] != value for key, value in WINDOWS.items())
    differs = {
        metric: {
            "length": length,
            "language_model": measure.reads and not gpt2_large,
            "text": (metric in completed) != measure.completed,
        }
        for metric, measure in MEASURES.items()
    }
    return {metric: [name for name, holds in of_metric.items() if holds] for metric, of_metric in differs.items()}


def beside_human(
    summaries: Mapping[str, Iterable[Mapping[str, Any]]],
    sets: Iterable[Mapping[str, Any]],
    published: Rows,
    differs: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Return a record of each summary beside the thesis's value, in the order of the sets.

    Values follow the metric's definition; the thesis prints `metrics.Measure.published_factor` times that.
    ``published_differs`` lists settings of the model that differ (data, scale, rank), and those of `differences`.
    """
    rows = []
    for samples in sets:
        for row in summaries.get(samples["model"], ()):
            key = (samples["kind"], samples["published_as"] or "", row["decoding"] or "", row["measure"])
            settings = [*that_matter(samples["differs"]), *differs.get(row["measure"], ())]
            rows.append({**facts(samples), **row, **printed(published, key, settings)})
    return record(rows)


def rare_bytes(
    human: str | Path, second: str | Path, samples: Sequence[str | Path], models: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Return a record of how often each of `models` writes the bytes that are rarest in the human text.

    `samples` has one file of pure sampling for each. The human value is that of the second set: in the text in which
    they were found to be the rarest, bytes are so by chance too.
    """
    rare = rarest_bytes(count_bytes(read_table(human, ["scored"])["scored"].to_pylist()))
    sets = [
        (facts(model) | {"decoding": "pure"}, path, "continuation") for model, path in zip(models, samples, strict=True)
    ]
    sets.append(({"model": SECOND, "kind": "human"}, second, "scored"))
    rows = []
    for known, path, column in sets:
        counts = count_bytes(read_table(path, [column])[column].to_pylist())
        share = float(relative_frequencies(counts)[rare].sum())
        rows.append({**known, "measure": RARE, "value": share, "n": int(counts.sum()), "unit": "share of bytes"})
    return record(rows)


def _of_samples(part: pd.DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    """Return columns of a metric of samples: the summary of those where it is defined."""
    known, missing = part[part["value"].notna()], part[part["value"].isna()]
    note = f"{len(missing)} left out: {missing['note'].iloc[0]}" if len(missing) else None
    if known.empty:
        return {"n": 0, "note": note}
    sums = WindowSums.of(known["window"].to_numpy(np.int64), known["value"].to_numpy(np.float64))
    return {**numbers(summarise(sums, resamples, seed)), "note": note}


def sight(table: pd.DataFrame) -> dict[str, Any] | None:
    """Return whether MAUVE tells samples of the lowest rank from people's texts, which its language model must see.

    The second set of human texts should be nearer to the first than the samples are: ``gap`` is the difference of
    their MAUVE, for samples the mean over seeds, ``low`` its lower limit by the normal law, with the standard
    deviations over draws of windows, which all seeds share. The judge is ``blind`` if the limit is not above 0. None
    without both sets.
    """
    mauve = table[(table.measure == "mauve") & table.value.notna()]
    people, ranked = mauve[mauve.model == SECOND], mauve[(mauve.kind == "family") & (mauve.decoding == "pure")]
    if people.empty or ranked["rank"].isna().all():
        return None
    lowest = ranked[ranked["rank"] == ranked["rank"].min()]
    gap = float(people.value.iloc[0] - lowest.value.mean())
    spread = math.hypot(people.sd.iloc[0], math.sqrt((lowest.sd**2).mean()))
    low = gap + NormalDist().inv_cdf(LEVEL) * spread
    return {"rank": int(lowest["rank"].iloc[0]), "gap": gap, "low": low, "blind": not low > 0}


def quality_page(table: pd.DataFrame, title: str, completed: Collection[str]) -> Page:
    """Return the page of a table of `beside_human` in the thesis's three layouts.

    They are pure sampling, by decoding, and truncated heads.
    """
    table = table[table.measure.isin(MEASURES)]
    models, svd, human = (table[table.kind.isin(kinds)] for kinds in (["family", "truth"], ["svd"], ["human"]))
    first, pure = human[human.model == HUMAN], models[models.decoding == "pure"]
    aims = first.set_index("measure").value.to_dict()
    sections = [
        Section("Pure sampling (Table 5.3)", _by_metric(pd.concat([pure, human]), "family", aims)),
        Section("By decoding (Tables 6.2 and 6.3)", _by_decoding(models, aims)),
    ]
    if len(svd):
        truncated = _by_metric(pd.concat([svd, first]), "svd", aims)
        sections.append(Section("Truncated heads, pure sampling (Table H.1)", truncated))
    return Page(title, [section for section in sections if section.rows], _legend(table, completed))


def _by_metric(part: pd.DataFrame, candidates: str, aims: Mapping[str, float]) -> list[dict[str, Cell]]:
    """Return one row per model, and a column of ours and one published per metric.

    The best of the `candidates` is marked.
    """
    rows = []
    for cells, of_model in by_model(part):
        for row in of_model.to_dict("records"):
            metric = row["measure"]
            cells[_label(metric)] = _ours(row, metric if row["kind"] == candidates else "", aims)
            if part.published[part.measure == metric].notna().any():
                cells[f"published {MEASURES[metric].label}"] = Value(row["published"], row["published_sd"])
        rows.append(cells)
    return rows


def _by_decoding(part: pd.DataFrame, aims: Mapping[str, float]) -> list[dict[str, Cell]]:
    """Return one row per model and metric, and a column of ours and one published per decoding.

    The best per row is marked.
    """
    rows = []
    for cells, samples in by_model(part, "measure"):
        model, metric = samples.iloc[0][["model", "measure"]]
        cells["metric"] = _label(metric)
        for row in samples.to_dict("records"):
            cells[row["decoding"]] = _ours(row, f"{model} {metric}", aims)
            if part.published[part.decoding == row["decoding"]].notna().any():
                cells[f"published {row['decoding']}"] = Value(row["published"], row["published_sd"])
        cells["human"] = Value(aims.get(metric, math.nan) * MEASURES[metric].published_factor)
        rows.append(cells)
    return rows


def _ours(row: Mapping[str, Any], rivals: str, aims: Mapping[str, float]) -> Value:
    """Return our value as the thesis prints it; the best of its rivals is bold."""
    factor = MEASURES[row["measure"]].published_factor
    aim = AIMS.get(row["better"], aims.get(row["measure"], math.nan) * factor)
    return Value(row["value"] * factor, row["sd"] * factor, rivals=rivals, aim=aim)


def _label(metric: str) -> str:
    measure = MEASURES[metric]
    half = " / 2" if measure.published_factor == 0.5 else ""
    return labelled(f"{measure.label}{half}", measure.better)


def _legend(table: pd.DataFrame, completed: Collection[str]) -> list[str]:
    whole, raw = ([MEASURES[name].label for name in MEASURES if (name in completed) == has] for has in (True, False))
    differs = set(" ".join(table.published_differs.dropna()).split())
    parts = legend(
        __file__,
        "sample_quality",
        n=int(table.n.max()),
        whole=listed(whole) if whole else None,
        raw=f"{listed(raw)} {'are' if len(raw) > 1 else 'is'}",
        second=SECOND,
        other_model="language_model" in differs and table.value[table.measure == "mauve"].notna().any(),
        judge=sight(table),
    )
    parts += caveats(table)
    for (metric, note), missing in table[table.note.notna()].groupby(["measure", "note"], sort=False):
        sets = (missing.model + " " + missing.decoding.fillna("")).str.strip().tolist()
        whose = ", ".join(sets) if len(sets) <= 3 else f"{len(sets)} sets"
        parts.append(f"{MEASURES[str(metric)].label} ({whose}): {note}")
    return parts
