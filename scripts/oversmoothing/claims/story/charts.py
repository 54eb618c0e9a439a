"""Charts of the story page: a measure against rank, with menus for what is shown, ours beside the published."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from oversmoothing.tables.figures.colours import PALETTE
from oversmoothing.tables.record import KEYS

OURS, PUBLISHED = "this run", "the thesis"
MENU = "menu_"  # before the name of a column that a menu selects


def by_rank(
    table: pd.DataFrame, menus: Mapping[str, str], names: Mapping[str, Mapping[str, str]], description: str
) -> dict[str, Any]:
    """Return the Vega-Lite specification of a line of means, with intervals, against rank, and the published one.

    `table` is a record, perhaps with a column ``series``; a missing value in a column of `menus` stands under every
    choice of its menu, and a column with one value gets none. A further key of the record with several values, such as
    ``truth``, gets a menu as well, so that no line joins them. A line of several seeds goes through their means.
    `names` are words for values, by column.
    """
    menus = {**menus, **_further(table, menus)}
    points = _points(table, list(menus))
    params, selected = _menus(points, menus, names)
    shown = alt.Chart(alt.Data(values=json.loads(points.to_json(orient="records"))))
    for chosen in selected:
        shown = shown.transform_filter(chosen)
    ours = set(points["rank"][points.series != PUBLISHED])
    ranks = sorted(points["rank"].unique())
    ticks = [rank for rank in ranks if rank in ours or rank & (rank - 1) == 0 or rank == ranks[-1]]
    x = alt.X(
        "rank:Q", title="rank of what enters the LM head", scale=alt.Scale(type="log", base=2, nice=False, padding=12)
    )
    x = x.axis(values=ticks, format="d", grid=False, labelOverlap="greedy")
    y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=True))
    series = list(dict.fromkeys(points["series"]))
    colour = alt.Color("series:N", title=None, sort=series, scale=alt.Scale(domain=series, range=_colours(series)))
    dash = alt.condition(alt.datum.series == PUBLISHED, alt.value([5, 4]), alt.value([1, 0]))
    base = shown.encode(x=x, color=colour)
    means = alt.Y("mean(value):Q", title=None, scale=alt.Scale(zero=True))
    line = base.mark_line(strokeWidth=2).encode(y=means, strokeDash=dash, detail="series:N")
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(
        y=y,
        tooltip=[
            alt.Tooltip("series:N", title="from"),
            alt.Tooltip("model:N"),
            alt.Tooltip("rank:Q", format="d"),
            *[alt.Tooltip(f"{column}:N", title=label) for column, label in menus.items()],
            alt.Tooltip("text:N", title="mean"),
            alt.Tooltip("interval:N", title="95 % interval"),
            alt.Tooltip("unit:N"),
        ],
    )
    chart = alt.layer(line, bars, marks).add_params(*params)
    # A title of the chart, put along the axis of values, follows the menus; one of the axis cannot.
    along = alt.TitleParams(_axis(points, names, params), orient="left", fontSize=13)
    chart = chart.properties(width="container", height=300, description=description, title=along)
    words = alt.AxisConfig(labelFontSize=13, titleFontSize=13)
    legend = alt.LegendConfig(orient="bottom", labelFontSize=13, labelLimit=400, symbolSize=100)
    view = alt.ViewConfig(stroke=None)
    return chart.configure(background="transparent", view=view, axis=words, legend=legend).to_dict()


def _further(table: pd.DataFrame, menus: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of the record, other than those of `menus`, in which points of one model differ."""
    shown = table.dropna(subset=["rank", "value"])
    model = [*menus, *(name for name in ("model", "series") if name in shown)]
    of_models = shown.groupby(model, dropna=False, observed=True)
    return {key: key for key in KEYS if key in shown and key not in menus and (of_models[key].nunique() > 1).any()}


def _points(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per point: ours, and the published ones at their own ranks."""
    table = table.dropna(subset=["rank", "value"])
    if "series" not in table:
        table = table.assign(series=OURS)
    theirs = table[table.published.notna() & table.published_model.str.isdigit()]
    theirs = theirs.assign(
        rank=theirs.published_model.astype(int),
        series=PUBLISHED,
        model=("against " + theirs.published_truth).fillna(""),
        value=theirs.published,
        low=math.nan,
        high=math.nan,
    )
    kept = ["rank", "series", "model", "unit", "value", "low", "high", *columns]
    parts = [table[kept], theirs[kept].drop_duplicates(["rank", *columns])]
    points = pd.concat([part.astype(object) for part in parts], ignore_index=True)
    points["text"] = [f"{value:.4g}" for value in points.value]
    ends = zip(points.low, points.high, strict=True)
    points["interval"] = [f"{low:.4g} to {high:.4g}" if pd.notna(low) else "-" for low, high in ends]
    return points.astype({"rank": int, "value": float}).sort_values(["series", "rank"], kind="stable")


def _axis(
    points: pd.DataFrame, names: Mapping[str, Mapping[str, str]], params: Sequence[alt.Parameter]
) -> alt.ExprRef | str:
    """Return what the values are, with their unit: of the measure that the menu selects, if there are several."""
    if "measure" not in points:
        return f"value ({points.unit.iloc[0]})"
    units = points.drop_duplicates("measure").set_index("measure").unit
    told = {name: f"{_word('measure', name, names)} ({unit})" for name, unit in units.items()}
    chosen = f"{MENU}measure"
    if any(param.name == chosen for param in params):
        return alt.ExprRef(f"{json.dumps(told)}[{chosen}]")
    (only,) = told.values()
    return only


def _word(column: str, value: str, names: Mapping[str, Mapping[str, str]]) -> str:
    return names.get(column, {}).get(value, str(value).replace("_", " "))


def _menus(
    points: pd.DataFrame, menus: Mapping[str, str], names: Mapping[str, Mapping[str, str]]
) -> tuple[list[alt.Parameter], list[str]]:
    """Return a menu for each column with several values, and the filters that obey them."""
    params, filters = [], []
    for column, label in menus.items():
        values = list(dict.fromkeys(points[column].dropna()))
        if len(values) < 2:
            continue
        words = [_word(column, value, names) for value in values]
        menu = alt.binding_select(options=values, labels=words, name=f"{label} ")
        params.append(alt.param(name=f"{MENU}{column}", value=values[0], bind=menu))
        filters.append(f"datum.{column} === null || datum.{column} === {MENU}{column}")
    return params, filters


def _colours(series: Sequence[str]) -> list[str]:
    """Return the colour of each series, that of the published ones grey."""
    ours = [name for name in series if name != PUBLISHED]
    shades = dict(zip(ours, PALETTE, strict=False))
    return [shades.get(name, "#888888") for name in series]
