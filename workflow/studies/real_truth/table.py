"""Table of the family against truths of two kinds: levels, what heads force, steps between ranks, and the bias."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS
from oversmoothing.tables.page import Cell, Page, Section, Value, directions, labelled
from oversmoothing.tables.record import over_seeds, record
from oversmoothing.tables.story import legend

SHARE, OF = "_share", "_of"  # at the end of a measure: its share of KL, and that KL, at the same positions
FORCED, BEST = "forced", "best"
TITLE = "The family against a truth that is trained here and against real language models."
NAMES = {FORCED: "forced (nats)", f"{FORCED}{SHARE}": "share", BEST: "best head (nats)", f"{BEST}{SHARE}": "its share"}


def truths_table(
    values: pd.DataFrame,
    between: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Levels of each rank against each truth, and differences of them, over seeds.

    Parameters
    ----------
    values : DataFrame
        ``model``, ``truth``, ``measure``, ``value``: means over positions.
    between : DataFrame
        The same of truths against each other, with ``low``, ``high`` and ``n``.
    models : sequence of mappings
        What `record.facts` reads, with a rank and a seed each.
    truths : mapping
        Names of the truths that are trained here, ``own``, and of the others, ``real``.

    Returns
    -------
    DataFrame
        Record. Levels are means over ``n`` seeds with 95 % intervals by Student's t. Differences are paired by seed,
        and ``less`` names what is subtracted: the next higher rank and the highest one, against the same truth; or, at
        the same rank, the value against the first of the own truths or of the real ones.
    """
    by_model = values.merge(pd.DataFrame(models), on="model")
    rows: list[dict[str, Any]] = []
    order = [*truths["own"], *truths["real"]]
    for measure, part in by_model.groupby("measure", sort=False):
        of_ranks = part.pivot_table(index="seed", columns=["truth", "rank"], values="value")
        ranks = sorted(part["rank"].unique())
        for truth in (truth for truth in order if truth in of_ranks):
            square = of_ranks[truth]
            of_truth = {"measure": measure, "truth": truth}
            rows += [{**of_truth, "rank": rank, **over_seeds(square[rank].dropna())} for rank in ranks]
            for rank, less in dict.fromkeys([*pairwise(ranks), *((rank, ranks[-1]) for rank in ranks[:-1])]):
                difference = over_seeds((square[rank] - square[less]).dropna())
                rows.append({**of_truth, "rank": rank, "less": f"rank {less}", **difference})
            for base in _bases(truth, truths):
                for rank in ranks:
                    difference = over_seeds((square[rank] - of_ranks[base][rank]).dropna())
                    rows.append({**of_truth, "rank": rank, "less": base, **difference})
    described = [{**row, "kind": "family", **_unit(str(row["measure"]))} for row in rows]
    others = [{**row, **_unit(row["measure"])} for row in between.to_dict("records")]
    return record([*described, *others])


def truths_page(table: pd.DataFrame, truths: Mapping[str, Sequence[str]]) -> Page:
    """Page with levels, what heads force, steps, the bias of the own truth, and truths against each other."""
    family, main = table[table.kind == "family"], [truths["own"][0], truths["real"][0]]
    levels = family[family.less.isna()]
    sections = [Section(f"Against `{truth}`", _rows(levels[levels.truth == truth], METRIC_NAMES)) for truth in main]
    heads = levels[levels.measure.isin([*NAMES]) & levels.truth.isin(main)]
    sections.append(Section("What heads force of KL", _by_truth(heads, NAMES)))
    tto = family[family.measure == AGAINST_TRUTHS[0]]
    steps = tto[tto.less.str.startswith("rank", na=False)]
    sections.append(Section("TTO less that of a higher rank", _steps(steps)))
    sections.append(Section("TTO by truth", _across(tto[tto.less.isna()])))
    for base in main:
        of_base = tto[tto.less == base]
        if len(of_base):
            sections.append(Section(f"TTO by truth, less that against `{base}`", _across(of_base)))
    pairs = table[(table.kind == "truth") & table.truth.isin(main)]
    sections.append(Section("Truths as models", _rows(pairs, METRIC_NAMES, ["model", "truth"])))
    words = legend(__file__, "real_truth", seeds=int(levels.n.max()))
    return Page(TITLE, sections, [*words, directions(levels.better)])


METRIC_NAMES = {name: labelled(METRICS[name].label, METRICS[name].better) for name in AGAINST_TRUTHS}


def _bases(truth: str, truths: Mapping[str, Sequence[str]]) -> list[str]:
    """Truths that another is compared with: of a real one the first own one, and the first real one."""
    if truth not in truths["real"]:
        return []
    return [base for base in (truths["own"][0], truths["real"][0]) if base != truth]


def _unit(measure: str) -> dict[str, str]:
    if measure in METRICS:
        return {"unit": METRICS[measure].unit, "better": METRICS[measure].better}
    return {"unit": "share" if measure.endswith(SHARE) else METRICS["kl"].unit}


def _rows(table: pd.DataFrame, columns: Mapping[str, str], by: Sequence[str] = ("rank",)) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for key, part in table.groupby(list(by), sort=False):
        measures = part.set_index("measure")
        named = {name: str(value) for name, value in zip(by, key, strict=True)}
        rows.append({**named, **{title: _value(measures, name) for name, title in columns.items()}})
    return rows


def _by_truth(table: pd.DataFrame, columns: Mapping[str, str]) -> list[dict[str, Cell]]:
    return _rows(table.sort_values(["rank"], kind="stable"), columns, ["rank", "truth"])


def _steps(table: pd.DataFrame) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for (rank, less), part in table.groupby(["rank", "less"], sort=False):
        of_truth = part.set_index("truth")
        rows.append({"rank": str(rank), "less": str(less), **{name: _value(of_truth, name) for name in of_truth.index}})
    return sorted(rows, key=lambda row: (int(str(row["rank"])), int(str(row["less"]).split()[-1])))


def _across(table: pd.DataFrame) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for rank, part in table.groupby("rank"):
        of_truth = part.set_index("truth")
        rows.append({"rank": str(rank), **{name: _value(of_truth, name) for name in of_truth.index}})
    return rows


def _value(table: pd.DataFrame, name: str) -> Value | None:
    if name not in table.index:
        return None
    row = table.loc[name]
    return Value(row.value, None, row.low, row.high)
