"""Tables of scores: how much each model oversmooths, beside the thesis's numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

import pandas as pd
from tabulate import tabulate

from oversmoothing.scores.catalogue.metrics import METRICS, NARROW
from oversmoothing.tables.page import (
    AIMS,
    IN_BRACKETS,
    Cell,
    Page,
    Section,
    Value,
    by_model,
    directions,
    labelled,
    valued,
)
from oversmoothing.tables.published import by_key, caveats, listed, printed, stand_ins, that_matter
from oversmoothing.tables.record import facts, record
from oversmoothing.tables.story import legend

TERMINAL = 80  # columns
IN_A_ROW = 5  # metrics that it has room for
UNITS = {"probability": "probability, from 0 to 1"}
NO_HEAD = "No TBAT of {}, which reads tokens: a distribution of bytes is no softmax of few dimensions"
BOTH = {"mean": "both of its truths"}  # in Table 6.1


def score_table(
    summaries: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
) -> pd.DataFrame:
    """Return the record of each model's mean scores beside the thesis's.

    Rows stand by truth, metric, decoding and model in the orders given.

    `summaries` has the columns ``model``, ``truth`` (None if the metric needs none), ``metric``, ``decoding``,
    those of a `Summary` and, for metrics known within a bracket, ``bracket``, its mean width, which the record has
    only if one is wider than `NARROW`. Of models and truths, ``published_as`` and ``differs`` name the published
    rows and the settings in which ours differ.
    """
    known = {row["model"]: row for row in models}
    against = {row["model"]: row for row in truths} | {"": {"published_as": "", "differs": []}}
    cells = by_key(published, "model", "truth", "metric", "decoding")
    bracketed = "bracket" in summaries and (summaries.bracket > NARROW).any()
    rows = []
    for row in summaries.fillna({"truth": ""}).to_dict("records"):
        model, truth, metric = known[row["model"]], against[row["truth"]], row["metric"]
        key = (model["published_as"], truth["published_as"], metric, row["decoding"])
        rows.append(
            {
                **facts(model),
                "truth": row["truth"] or None,
                "decoding": row["decoding"],
                "measure": metric,
                "value": row["mean"],
                **{name: row[name] for name in ("sd", "n", "low", "high")},
                "unit": METRICS[metric].unit,
                "better": METRICS[metric].better,
                "bracket": row["bracket"] if bracketed else None,
                **printed(cells, key, that_matter((*model["differs"], *truth["differs"]), metric)),
                "published_truth": (truth["published_as"] or None) if key in cells else None,
            }
        )
    orders = {
        "truth": list(against),
        "measure": list(dict.fromkeys(summaries.metric)),
        "decoding": list(dict.fromkeys(summaries.decoding)),
        "model": list(known),
    }
    return record(rows).sort_values(
        list(orders), key=lambda column: column.fillna("").map(orders[column.name].index), ignore_index=True
    )


def score_page(
    table: pd.DataFrame, name: str, title: str, across: str = "metric", byte_views: Sequence[str] = ()
) -> Page:
    """Return the page with a section per truth, a row per model, and a column per metric or decoding (`across`).

    It has a legend.
    """
    sections = []
    for truth, part in table.groupby("truth", sort=False, dropna=False):
        heading = ""
        if table.truth.notna().any():
            heading = "Of the model alone, without a truth" if pd.isna(truth) else f"Against `{truth}`"
            if len(names := part.published_truth.dropna().unique()):
                heading += f", beside the thesis's values against {BOTH.get(names[0], names[0])}"
        sections.append(Section(heading, _rows(part, across)))
    sentences = [
        *legend(__file__, name),
        f"Mean ± standard deviation over {int(table.n.max()):,} positions{''.join(_exceptions(table))}",
        f"{directions(table.better)}; bold: the best of ours",
        *([NO_HEAD.format(", ".join(f"`{name}`" for name in byte_views))] if byte_views else []),
        *caveats(table),
    ]
    return Page(title, sections, sentences, IN_BRACKETS)


def _exceptions(table: pd.DataFrame) -> Iterator[str]:
    """Say of each metric that is computed at fewer positions, or known within a bracket, that it is."""
    for metric, part in table.groupby("measure", sort=False):
        label = METRICS[str(metric)].label
        if part.n.max() < table.n.max():
            yield f"; {label} over {int(part.n.max()):,}"
        if part.bracket.notna().any():
            yield f"; {label} is the middle of a proved bracket, on average up to {part.bracket.max():.2g} wide"


def _rows(part: pd.DataFrame, across: str) -> list[dict[str, Cell]]:
    split = across == "decoding" and part.measure.nunique() > 1
    rows = []
    for cells, of_model in by_model(part, *(["measure"] if split else [])):
        if split:
            first = of_model.iloc[0]
            cells["metric"] = labelled(METRICS[first.measure].label, first.better)
        for row in of_model.to_dict("records"):
            rivals, aim = f"{row['measure']} {row['decoding']}", AIMS[row["better"]]
            column = row["decoding"] if across == "decoding" else METRICS[row["measure"]].label
            cells[column if split else labelled(column, row["better"])] = valued(row, rivals=rivals, aim=aim)
            cells[f"published {column}"] = Value(row["published"], row["published_sd"])
        rows.append(cells)
    return rows


def for_terminal(table: pd.DataFrame) -> str:
    """Lay out the main table within 80 columns: means over seeds, each beside the thesis's, a block for each truth.

    Beside several truths, metrics that need none have a block of their own. A note says units, the better directions
    and beside which rank of the thesis another stands.
    """
    table = table.assign(row=_by_rank(table)).sort_values("rank", kind="stable")
    alone = table[table.truth.isna()]
    parts = {f", against {truth}": part for truth, part in table.groupby("truth", sort=False)}
    if len(parts) == 1:
        parts = {against: pd.concat([part, alone]) for against, part in parts.items()}
    elif len(alone):
        parts[", without a truth"] = alone
    blocks = []
    for against, part in parts.items():
        seeds = f", means of {part.seed.nunique()} seeds" if part.seed.nunique() > 1 else ""
        beside = part.published.notna().any()
        other = "".join(f", {BOTH.get(name, name)}" for name in part.published_truth.dropna().unique()[:1])
        heading = f"Oversmoothing by rank{against}{seeds}{f' (in brackets: the thesis{other})' if beside else ''}"
        blocks.append(fill(heading, TERMINAL))
        by_row = part.groupby("row", sort=False)
        columns: list[list[str]] = []
        for metric in part.measure.unique():
            means = [models[models.measure == metric][["value", "published"]].mean() for _, models in by_row]
            columns.append([labelled(METRICS[metric].label, METRICS[metric].better), *_cells(means, beside)])
        for i in range(0, len(columns), IN_A_ROW):
            header, *rows = zip(["", *by_row.groups], *columns[i : i + IN_A_ROW], strict=True)
            blocks.append(tabulate(rows, header, "simple", disable_numparse=True, stralign="right"))
    return "\n\n".join([*blocks, fill(_note(table), TERMINAL)])


def _by_rank(table: pd.DataFrame) -> pd.Series:
    """Name the row of each model: its rank, or its arm where it has no rank or shares it with another arm."""
    names = table.arm.fillna(table.model)
    shared = table.arm.groupby(table["rank"]).transform("nunique") > 1
    return table["rank"].astype("string").where(~shared, None).fillna(names).astype(str)


def _cells(means: Iterable[pd.Series], beside: bool) -> Iterator[str]:
    for mean, other in means:
        printed = f" ({'-' if pd.isna(other) else f'{other:.3f}'})" if beside else ""
        yield ("-" if pd.isna(mean) else f"{mean:.3f}") + printed


def _note(table: pd.DataFrame) -> str:
    shown = [METRICS[metric] for metric in table.measure.unique()]
    units = {unit: [metric.name for metric in shown if metric.unit == unit] for unit in (m.unit for m in shown)}
    measured = "; ".join(f"{listed(names)} in {UNITS.get(unit, unit)}" for unit, names in units.items())
    sentences = [measured, directions(metric.better for metric in shown), *stand_ins(table)]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)
