"""Which methods keep more than the reference, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.measures.cuts import FIRST
from oversmoothing.tables.published import listed
from oversmoothing.tables.record import chosen
from studies.cut_frontier.table import LEVEL, PAIR


def verdicts(table: pd.DataFrame) -> Iterator[str]:
    """Yield of each temperature which methods keep more than the reference, in how many models, and by how much."""
    (reference,) = set(table.less.dropna()) - {FIRST}
    gains = chosen(table, less=reference, leak=None, order=FIRST)
    more = gains[(gains.value > 0) & (gains.p < LEVEL)]
    pairs = table[PAIR].drop_duplicates()
    for temperature in table.temperature.dropna().unique():
        of_methods = chosen(more, temperature=temperature).groupby("decoding", sort=False).value
        found = [f"{name} ({len(of)} of {len(pairs)} models, by at most {of.max():.3f})" for name, of in of_methods]
        who = f"{listed(found)} keep{'s' if len(found) == 1 else ''}" if found else "no method keeps"
        yield f"At temperature {temperature:g} {who} more of the nucleus than {reference} for the same leak."
    yield (
        f"A gain counts if its p, adjusted for the number of methods, is below {LEVEL:g}; it covers the choice of "
        "text, not that of the training."
    )
