"""Page of the table of frontiers: the verdicts, and the area and the gains of every method."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from oversmoothing.measures.cuts import FIRST, LAST
from oversmoothing.measures.frontiers import AREA, BOUNDS, LEAKS
from oversmoothing.tables.page import Cell, Page, Section, Value, valued
from oversmoothing.tables.record import chosen
from oversmoothing.tables.story import legend

TITLE = "What decoding methods keep of the truth's nucleus, and what they leak, over all their settings."
LEVEL = 0.05  # of the adjusted p below which a gain is called one
PAIR = ["model", "law", "truth"]
AGAINST = {"leak": "leak", "impossible": "mass on impossible bytes"}


def frontier_page(table: pd.DataFrame, reference: str) -> Page:
    """Page with the verdicts, and for each model, truth and temperature a row per method."""
    sections = []
    for leak, named in LEAKS.items():
        if len(gains := chosen(table, leak=named, less=reference)):
            sections.append(Section(f"Compared with {reference}, by {AGAINST[leak]}", list(_verdicts(gains))))
    for keys, part in table.groupby([*PAIR, "temperature"], sort=False, dropna=False):
        *pair, temperature = keys
        heading = f"{' against '.join(_pair(pair).values())} at temperature {temperature:g}"
        sections.append(Section(heading, list(_methods(part, reference)), latex=False))
    return Page(TITLE, sections, legend(__file__, "frontier", reference=reference))


def _verdicts(gains: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for keys, part in gains.groupby([*PAIR, "temperature", "order"], sort=False, dropna=False):
        told = part.p < LEVEL
        sides = {
            "keeps more": part.decoding[told & (part.value > 0)],
            "keeps less": part.decoding[told & (part.value < 0)],
            "cannot be distinguished": part.decoding[~told],
        }
        *pair, temperature, order = keys
        row: dict[str, Cell] = {**_pair(pair), "temperature": f"{temperature:g}", "order": order}
        yield row | {side: ", ".join(names) or "none" for side, names in sides.items()}


def _pair(values: Sequence[Any]) -> dict[str, str]:
    """Words for a model and what it is held against, from the values of `PAIR`."""
    model, law, truth = values
    return {"model": f"`{model}`", "truth": f"`{truth}`" if pd.isna(law) else f"the law `{law}`"}


def _methods(table: pd.DataFrame, reference: str) -> Iterator[dict[str, Cell]]:
    rows = table.fillna({"leak": "", "less": ""}).to_dict("records")
    cells = {(row["order"], row["decoding"], row["leak"], row["less"]): row for row in rows}
    for name in chosen(table, measure=AREA, less=None).decoding.unique():
        row: dict[str, Cell] = {"method": name}
        for leak in LEAKS.values():
            against = " (impossible)" if leak else ""
            for order, label in ((FIRST, ""), (LAST, ", cut first")):
                for less, words in (("", "area"), (reference, f"gain over {reference}"), (FIRST, "gain of it")):
                    if (cell := cells.get((order, name, leak or "", less))) is not None:
                        row[words + label + against] = valued(cell, spread=False, decimals=4)
                        if less:
                            row[f"p of {words}{label}{against}"] = Value(cell["p"], decimals=3)
        yield row if name not in BOUNDS else {**row, "method": f"{name} (bound)"}
