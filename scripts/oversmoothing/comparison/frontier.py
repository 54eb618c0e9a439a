"""Decoding methods of a model beside a truth over all their settings, in this process."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from oversmoothing.comparison.compare import Compared, Steps, facts_of, measure
from oversmoothing.comparison.pair import find_pair
from oversmoothing.comparison.passages import draw_passages
from oversmoothing.comparison.settings import Settings
from oversmoothing.measures.catalogue import measures
from oversmoothing.measures.entries.frontier import described, setting_of
from oversmoothing.measures.frontiers import Frontiers
from oversmoothing.measures.summaries import RESAMPLES, SEED, Sums
from oversmoothing.tables.record import record

REFERENCE = "min-p"  # with which the other methods are compared


def compare_decodings(settings: Settings, temperatures: Sequence[float], positions: int) -> Compared:
    """Return the areas of all methods and their gains over `REFERENCE`, at some positions of each passage.

    Errors are those of `compare.compare`; the models must have the same tokenizer.
    """
    with Steps() as begin:
        begin("the models' files")
        pair = find_pair(settings, may_be_bytes=False)
        begin("passages of the text")
        windows = draw_passages(pair)
        of = measures()["frontier"].with_settings(temperatures=tuple(temperatures), per_window=positions)
        ((_, sums),), noise = measure(pair, windows, [of], begin)
    frontiers = Frontiers(pd.DataFrame(by_window(sums)), REFERENCE, RESAMPLES, SEED)
    facts = facts_of(pair, of, settings.names[0])
    return Compared(pair, record(pd.DataFrame({**facts, **row} for row in frontiers.rows())), noise)


def by_window(sums: Sums) -> Iterator[dict[str, Any]]:
    """Yield sums over the positions of each window, of each cut in turn, as `Frontiers` takes them."""
    cuts: dict[str, dict[str, dict[int, float]]] = {}
    counts: dict[int, int] = {}
    for column, of_column in sums.by_column.items():
        setting, name = setting_of(column)
        cuts.setdefault(setting, {})[name] = of_column.totals()
        counts = of_column.count
    for window, n in sorted(counts.items()):
        for setting, values in cuts.items():
            totals = {name: of_window[window] for name, of_window in values.items()}
            yield {"window": window, "n": n, **described(setting), **totals}
