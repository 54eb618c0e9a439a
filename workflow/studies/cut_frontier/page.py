"""Page of the table of frontiers: the verdicts, then every method."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, valued
from oversmoothing.tables.story import legend
from studies.cut_frontier.cuts import FIRST, LAST
from studies.cut_frontier.table import ADJUSTED, AREA, BOUNDS, GAIN, LEAKS, ORDER_GAIN

TITLE = "What decoding methods keep of the truth's nucleus, and what they leak, over all their settings."
LEVEL = 0.05  # of the adjusted p below which a gain is called one
PAIR = ["model", "law", "truth"]
AGAINST = {"leak": "leak", "impossible": "mass on impossible bytes"}


def frontier_page(table: pd.DataFrame, reference: str) -> Page:
    """Page with the verdicts, and for each model, truth and temperature a row per method."""
    sections = []
    for leak, ending in LEAKS.items():
        gains = table[table.measure.isin([GAIN + ending, GAIN + ending + ADJUSTED])]
        if len(gains):
            sections.append(Section(f"Compared with {reference}, by {AGAINST[leak]}", list(_verdicts(gains, ending))))
    for keys, part in table.groupby([*PAIR, "temperature"], sort=False, dropna=False):
        *pair, temperature = keys
        heading = f"{' against '.join(_pair(pair).values())} at temperature {temperature:g}"
        sections.append(Section(heading, list(_methods(part, reference)), latex=False))
    return Page(TITLE, sections, legend(__file__, "frontier", reference=reference))


def _verdicts(gains: pd.DataFrame, ending: str) -> Iterator[dict[str, Cell]]:
    for keys, part in gains.groupby([*PAIR, "temperature", "order"], sort=False, dropna=False):
        effects = part[part.measure == GAIN + ending].set_index("decoding").value
        p = part[part.measure == GAIN + ending + ADJUSTED].set_index("decoding").value
        sides = {
            "keeps more": [name for name in effects.index if p[name] < LEVEL and effects[name] > 0],
            "keeps less": [name for name in effects.index if p[name] < LEVEL and effects[name] < 0],
            "cannot be distinguished": [name for name in effects.index if not p[name] < LEVEL],
        }
        *pair, temperature, order = keys
        row: dict[str, Cell] = {**_pair(pair), "temperature": f"{temperature:g}", "order": order}
        yield row | {side: ", ".join(names) or "none" for side, names in sides.items()}


def _pair(values: Sequence[Any]) -> dict[str, str]:
    """Words for a model and what it is held against, from the values of `PAIR`."""
    model, law, truth = values
    return {"model": f"`{model}`", "truth": f"`{truth}`" if pd.isna(law) else f"the law `{law}`"}


def _methods(table: pd.DataFrame, reference: str) -> Iterator[dict[str, Cell]]:
    cells = {(row["order"], row["decoding"], row["measure"]): row for row in table.to_dict("records")}
    areas = table[table.measure.isin([AREA + ending for ending in LEAKS.values()])]
    for name in areas.decoding.unique():
        row: dict[str, Cell] = {"method": name}
        for ending in LEAKS.values():
            against = " (impossible)" if ending else ""
            for order, label in ((FIRST, ""), (LAST, ", cut first")):
                for measure, words in ((AREA, "area"), (GAIN, f"gain over {reference}"), (ORDER_GAIN, "gain of it")):
                    if (cell := cells.get((order, name, measure + ending))) is not None:
                        row[words + label + against] = valued(cell, spread=False, decimals=4)
                        adjusted = cells.get((order, name, measure + ending + ADJUSTED))
                        if adjusted is not None:
                            row[f"p of {words}{label}{against}"] = valued(adjusted, spread=False, decimals=3)
        yield row if name not in BOUNDS else {**row, "method": f"{name} (bound)"}
