"""Figures of docs/article/article.typ, drawn from kept tables, with fewer panels than in results.

They name truths as the article does.
"""

from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure

import oversmoothing_figure
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.record import read_record
from pages.kept import ROOT, STUDIES
from studies.forced_part import figure as forced_part
from studies.leak_at_equal_loss import show as leak_at_equal_loss

TRUTHS = {"truth": "the own truth", "smollm2": "SmolLM2"}  # as the article calls them


def main() -> None:
    """Write each figure beside the article's source in Typst."""
    for name, draw in FIGURES.items():
        write_figure(draw(), [ROOT / "docs/article" / f"{name}.png"])


def ranks() -> Figure:
    """Draw TTO by rank against both truths, and TBAT, beside the thesis's."""
    table = _table("replication", "oversmoothing")
    return _plain(oversmoothing_figure.draw(table[table.measure.isin(["tto", "tbat"])], across=3), 3.0)


def equal_loss() -> Figure:
    """Draw TTO against loss, and differences from full heads of equal loss."""
    table = _table("equal_loss_controls", "equal_loss")
    figure = leak_at_equal_loss.draw(table, list(TRUTHS.values()))
    for axes in figure.axes:
        axes.set_title(axes.get_title(loc="left"), loc="left", size=9)
    return _plain(figure, 6.6, width=11.6)


def forced() -> Figure:
    """Draw what of KL to the own truth the head forces, and TTO of the nearest distribution."""
    table = _table("smollm2", "forced")
    return _plain(forced_part.draw(table[table.truth == TRUTHS["truth"]]), 3.9)


FIGURES: dict[str, Callable[[], Figure]] = {"ranks": ranks, "equal_loss": equal_loss, "forced": forced}


def _table(study: str, name: str) -> pd.DataFrame:
    table = read_record(STUDIES / study / "tables" / f"{name}.csv")
    return table.assign(truth=table.truth.replace(TRUTHS))


def _plain(figure: Figure, height: float, width: float | None = None) -> Figure:
    """Return a figure without the words above it, which its caption says, and of another size in inches."""
    figure.set_size_inches(width or figure.get_figwidth(), height)
    for text in [*figure.texts]:
        text.set_text("")
    return figure


if __name__ == "__main__":
    main()
