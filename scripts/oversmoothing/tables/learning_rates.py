"""The learning rates tried for each arm of the family, as a table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, Value
from oversmoothing.tables.record import record
from oversmoothing.tables.story import legend
from oversmoothing.training.history import choose

CHOSEN = "chosen"


def rates_table(tried: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the record of the trials of each arm: each rate's loss, and how far it is above the chosen one's.

    The chosen rate has a note.
    """
    rows = []
    for arm in tried:
        losses = {float(rate): loss for rate, loss in arm["losses"].items()}
        best = choose(losses)
        for rate, loss in sorted(losses.items()):
            keys = {"arm": arm["arm"], "learning_rate": rate, "unit": "nats per byte", "better": "lower"}
            note = CHOSEN if rate == best else None
            rows += [
                {**keys, "measure": "validation_loss", "value": loss, "note": note},
                {**keys, "measure": "above", "value": loss - losses[best]},
            ]
    return record(rows)


def rates_page(table: pd.DataFrame, title: str) -> Page:
    """Return the page with a row per arm and a column per learning rate; the chosen one is bold."""
    rows = []
    for arm, of_arm in table.groupby("arm", sort=False):
        tried = of_arm[of_arm.measure == "validation_loss"].set_index("learning_rate")
        above = of_arm[of_arm.measure == "above"].set_index("learning_rate").value
        chosen = tried.index[tried.note == CHOSEN]
        cells: dict[str, Cell] = {"arm": str(arm)}
        cells |= {f"{rate:g}": Value(loss, rivals=str(arm), aim=-math.inf) for rate, loss in tried.value.items()}
        others = above.drop(chosen)
        cells["next best above"] = Value(others.min() if len(others) else None)
        cells["at the edge"] = "yes" if chosen.isin([tried.index.min(), tried.index.max()]).any() else "no"
        rows.append(cells)
    return Page(title, [Section("", rows)], legend(__file__, "learning_rates"))
