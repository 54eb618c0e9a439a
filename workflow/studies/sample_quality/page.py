"""Page of sample quality: Tables 5.3, 6.2, 6.3 and H.1, with the values closest to human marked."""

import math
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from oversmoothing.tables.page import AIMS, Cell, Page, Section, Value, by_model, labelled
from oversmoothing.tables.published import caveats, listed
from oversmoothing.tables.story import legend
from studies.sample_quality.metrics import MEASURES
from studies.sample_quality.table import HUMAN, SECOND


def quality_page(table: pd.DataFrame, title: str, completed: Collection[str]) -> Page:
    """Page in the thesis's three layouts: pure sampling, by decoding, truncated heads.

    The table is that of `table.beside_human`; metrics in `completed` include the partial last word of the prompt.
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
    """One row per model, and a column of ours and one published per metric; the best of the `candidates` is marked."""
    rows = []
    for cells, of_model in by_model(part):
        for row in of_model.to_dict("records"):
            metric = row["measure"]
            cells[_label(metric)] = _ours(row, metric if row["kind"] == candidates else "", aims)
            if part.published[part.measure == metric].notna().any():
                cells[f"published {MEASURES[metric].label}"] = _published(row)
        rows.append(cells)
    return rows


def _by_decoding(part: pd.DataFrame, aims: Mapping[str, float]) -> list[dict[str, Cell]]:
    """One row per model and metric, and a column of ours and one published per decoding; the best per row is marked."""
    rows = []
    for cells, samples in by_model(part, "measure"):
        model, metric = samples.iloc[0][["model", "measure"]]
        cells["metric"] = _label(metric)
        for row in samples.to_dict("records"):
            cells[row["decoding"]] = _ours(row, f"{model} {metric}", aims)
            if part.published[part.decoding == row["decoding"]].notna().any():
                cells[f"published {row['decoding']}"] = _published(row)
        cells["human"] = Value(aims.get(metric, math.nan) * MEASURES[metric].published_factor)
        rows.append(cells)
    return rows


def _ours(row: Mapping[str, Any], rivals: str, aims: Mapping[str, float]) -> Value:
    """Our value as the thesis prints it; the best of its rivals is bold."""
    factor = MEASURES[row["measure"]].published_factor
    aim = AIMS.get(row["better"], aims.get(row["measure"], math.nan) * factor)
    return Value(row["value"] * factor, row["sd"] * factor, rivals=rivals, aim=aim)


def _published(row: Mapping[str, Any]) -> Value:
    return Value(row["published"], row["published_sd"])


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
    )
    parts += caveats(table)
    for (metric, note), missing in table[table.note.notna()].groupby(["measure", "note"], sort=False):
        sets = (missing.model + " " + missing.decoding.fillna("")).str.strip().tolist()
        whose = ", ".join(sets) if len(sets) <= 3 else f"{len(sets)} sets"
        parts.append(f"{MEASURES[str(metric)].label} ({whose}): {note}")
    return parts
