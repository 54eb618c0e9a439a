"""Tables of scores: how much each model oversmooths, beside the thesis's numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from tabulate import tabulate

from oversmoothing.catalogue.metrics import METRICS
from oversmoothing.page import AIMS, IN_BRACKETS, Cell, Page, Section, Value, directions, labelled, model_cells
from oversmoothing.published import beside, by_key, caveats, that_matter

NARROW = 1e-4  # brackets up to this width are points
TERMINAL = 80  # columns
BOTH = {"mean": "both of its truths"}  # in Table 6.1


def score_table(
    summaries: pd.DataFrame,
    models: Sequence[Mapping[str, Any]],
    truths: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
) -> pd.DataFrame:
    """Mean scores of each model, beside the thesis's.

    Parameters
    ----------
    summaries : DataFrame
        ``model``, ``truth`` (None if the metric needs none), ``metric``, ``decoding``, ``mean``, ``sd``, ``n``,
        ``low``, ``high``; for metrics that are known within a bracket also ``bracket``, its mean width.
    models, truths : sequence of mappings
        ``model``, ``rank``, ``seed``, ``published_as``, ``differs`` of each (see the workflow's plan).
    published : DataFrame
        See `read_published`.

    Returns
    -------
    DataFrame
        One row per truth, metric, decoding and model, in the order given. ``published_mean`` and ``published_sd``
        are present where the thesis has that rank; ``published_differs`` lists the settings that differ: data, scale
        (size of the models), truth, rank, and the settings of the metric. ``bracket`` is there only if one is wider
        than `NARROW`.
    """
    facts = {row["model"]: row for row in models}
    against = {row["model"]: row for row in truths} | {"": {"published_as": "", "differs": []}}
    cells = by_key(published, "model", "truth", "metric", "decoding")
    bracketed = "bracket" in summaries and (summaries.bracket > NARROW).any()
    rows = []
    for row in summaries.fillna({"truth": ""}).to_dict("records"):
        model, truth, metric = facts[row["model"]], against[row["truth"]], row["metric"]
        key = (model["published_as"], truth["published_as"], metric, row["decoding"])
        theirs = beside(cells, key, that_matter((*model["differs"], *truth["differs"]), metric), ("mean", "sd"))
        rows.append(
            {
                "truth": row["truth"] or None,
                "metric": metric,
                "unit": METRICS[metric].unit,
                "better": METRICS[metric].better,
                "decoding": row["decoding"],
                **{name: model[name] for name in ("model", "rank", "seed")},
                **{name: row[name] for name in ("mean", "sd", "n", "low", "high")},
                **({"bracket": row["bracket"]} if bracketed else {}),
                "published_model": theirs.pop("published_model"),
                "published_truth": (truth["published_as"] or None) if key in cells else None,
                **theirs,
            }
        )
    table = pd.DataFrame(rows).astype({"rank": "Int64", "seed": "Int64", "n": "Int64"})
    orders = {
        "truth": list(against),
        "metric": list(dict.fromkeys(summaries.metric)),
        "decoding": list(dict.fromkeys(summaries.decoding)),
        "model": list(facts),
    }
    return table.sort_values(
        list(orders), key=lambda column: column.fillna("").map(orders[column.name].index), ignore_index=True
    )


def score_page(table: pd.DataFrame, title: str, across: str = "metric") -> Page:
    """Page with a section per truth and a row per model; the columns are the metrics or decodings (`across`).

    With decodings as columns and several metrics, each metric has a row of its own.
    """
    sections = []
    for truth, part in table.groupby("truth", sort=False, dropna=False):
        heading = ""
        if table.truth.notna().any():
            heading = "Of the model alone, without a truth" if pd.isna(truth) else f"Against `{truth}`"
            if len(names := part.published_truth.dropna().unique()):
                heading += f", beside the thesis's values against {BOTH.get(names[0], names[0])}"
        sections.append(Section(heading, _rows(part, across)))
    legend = [
        f"Mean ± standard deviation over {int(table.n.max()):,} positions{''.join(_exceptions(table))}",
        f"{directions(table.better)}; bold: the best of ours",
        *caveats(table),
    ]
    return Page(title, sections, legend, IN_BRACKETS)


def _exceptions(table: pd.DataFrame) -> Iterator[str]:
    """Say of each metric that is computed at fewer positions, or known within a bracket, that it is."""
    for metric, own in table.groupby("metric", sort=False):
        label = METRICS[str(metric)].label
        if own.n.max() < table.n.max():
            yield f"; {label} over {int(own.n.max()):,}"
        if "bracket" in own and own.bracket.notna().any():
            yield f"; {label} is the middle of a proved bracket, on average up to {own.bracket.max():.2g} wide"


def _rows(part: pd.DataFrame, across: str) -> list[dict[str, Cell]]:
    several_seeds = part.seed.nunique() > 1
    split = across == "decoding" and part.metric.nunique() > 1
    rows = []
    for _, own in part.groupby(["model", "metric"] if split else ["model"], sort=False):
        first = own.iloc[0].to_dict()
        row = model_cells(first, several_seeds)
        if split:
            row["metric"] = labelled(METRICS[first["metric"]].label, first["better"])
        for record in own.to_dict("records"):
            rivals, aim = f"{record['metric']} {record['decoding']}", AIMS[record["better"]]
            column = record["decoding"] if across == "decoding" else METRICS[record["metric"]].label
            ours = Value(record["mean"], record["sd"], record["low"], record["high"], rivals, aim)
            row[column if split else labelled(column, record["better"])] = ours
            row[f"published {column}"] = Value(record["published_mean"], record["published_sd"])
        rows.append(row)
    return rows


def for_terminal(table: pd.DataFrame) -> str:
    """Lay out the main table within 80 columns: means over seeds by rank, each beside the thesis's.

    Metrics that find no room stand in a table below.
    """
    blocks = []
    for truth, own in table.groupby("truth", sort=False):
        own = pd.concat([own, table[table.truth.isna()]])
        by_rank = own.groupby("rank")
        columns = [["", *(str(rank) for rank in by_rank.groups)]]
        for metric in own.metric.unique():
            means = [models[models.metric == metric][["mean", "published_mean"]].mean() for _, models in by_rank]
            cells = [f"{mean:.3f} ({_or_dash(published)})" for mean, published in means]
            columns.append([METRICS[metric].name, *cells])
        seeds = f", means of {own.seed.nunique()} seeds" if own.seed.nunique() > 1 else ""
        blocks.append(f"Oversmoothing by rank, against {truth}{seeds} (in brackets: thesis)")
        blocks += [_aligned(part) for part in _within(columns, TERMINAL)]
    return "\n\n".join(blocks)


def _within(columns: Sequence[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Yield the columns in parts that are no wider than the terminal, each after the first column."""
    first, *others = columns
    part = [first]
    for column in others:
        if len(part) > 1 and max(map(len, _aligned([*part, column]).splitlines())) > width:
            yield part
            part = [first]
        part.append(column)
    yield part


def _aligned(columns: Sequence[list[str]]) -> str:
    header, *rows = zip(*columns, strict=True)
    return tabulate(rows, header, "simple", disable_numparse=True, stralign="right")


def _or_dash(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.3f}"
