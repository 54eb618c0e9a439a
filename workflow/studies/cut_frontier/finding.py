"""Which methods keep more than the reference, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.tables.published import listed
from studies.cut_frontier.cuts import FIRST
from studies.cut_frontier.page import LEVEL, PAIR
from studies.cut_frontier.table import ADJUSTED, AREA, BOUNDS, GAIN


def verdicts(table: pd.DataFrame) -> Iterator[str]:
    """Yield of each temperature which methods keep more than the reference, in how many models, and by how much."""
    (reference,) = set(table[table.measure == AREA].decoding) - set(table[table.measure == GAIN].decoding) - {*BOUNDS}
    keys = ["temperature", "order", "decoding", *PAIR]
    gains = table[table.measure == GAIN].set_index(keys).value
    p = table[table.measure == GAIN + ADJUSTED].set_index(keys).value
    more = gains[(gains > 0) & (p.reindex(gains.index) < LEVEL)].reset_index()
    pairs = table[PAIR].drop_duplicates()
    for temperature in table.temperature.dropna().unique():
        of_methods = (
            more[(more.temperature == temperature) & (more.order == FIRST)].groupby("decoding", sort=False).value
        )
        found = [f"{name} ({len(of)} of {len(pairs)} models, by at most {of.max():.3f})" for name, of in of_methods]
        who = f"{listed(found)} keep{'s' if len(found) == 1 else ''}" if found else "no method keeps"
        yield f"At temperature {temperature:g} {who} more of the nucleus than {reference} for the same leak."
    yield (
        f"A gain counts if its p, adjusted for the number of methods, is below {LEVEL:g}; it covers the choice of "
        "text, not that of the training."
    )
