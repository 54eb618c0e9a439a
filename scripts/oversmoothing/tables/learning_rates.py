"""The learning rates tried for each arm of the family, as a table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from oversmoothing.tables.page import Cell, Page, Section, Value
from oversmoothing.training.choose_rate import choose


def rates_table(tried: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Validation loss of every trial.

    Parameters
    ----------
    tried : sequence of mappings
        ``arm``, and ``losses`` by learning rate, of each arm.

    Returns
    -------
    DataFrame
        ``arm``, ``learning_rate``, ``validation_loss`` (nats per byte, the lowest of the training), ``chosen``,
        ``above`` (nats above that of the chosen rate) and ``edge``, whether the chosen rate is the lowest or highest of
        those tried, so that a better one may lie beyond.
    """
    rows = []
    for arm in tried:
        losses = {float(rate): loss for rate, loss in arm["losses"].items()}
        best = choose(losses)
        for rate, loss in sorted(losses.items()):
            rows.append(
                {
                    "arm": arm["arm"],
                    "learning_rate": rate,
                    "validation_loss": loss,
                    "chosen": rate == best,
                    "above": loss - losses[best],
                    "edge": best in (min(losses), max(losses)),
                }
            )
    return pd.DataFrame(rows)


def rates_page(table: pd.DataFrame, title: str) -> Page:
    """Page with a row per arm and a column per learning rate; the chosen one is bold."""
    rows = []
    for arm, own in table.groupby("arm", sort=False):
        row: dict[str, Cell] = {"arm": str(arm)}
        for found in own.to_dict("records"):
            row[f"{found['learning_rate']:g}"] = Value(found["validation_loss"], rivals=str(arm), aim=-math.inf)
        others = own.above[~own.chosen]
        row["next best above"] = Value(others.min() if len(others) else None)
        row["at the edge"] = "yes" if own.edge.any() else "no"
        rows.append(row)
    legend = [
        "Lowest validation loss in nats per byte by peak learning rate, one training each, on a seed that no "
        "comparison uses; bold: the rate that every other seed of the arm is trained with",
        "Next best above: how far the second lowest loss lies above the lowest. At the edge: the chosen rate is the "
        "lowest or the highest of those tried, so that a better one may lie beyond",
    ]
    return Page(title, [Section("", rows)], legend)
