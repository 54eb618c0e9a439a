"""How many dimensions vocabularies need, in sentences with their intervals."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from oversmoothing.claims.story.answers import selected
from oversmoothing.tables.figures.style import named
from oversmoothing.tables.record import chosen
from studies.dimensions_needed.names import BEST, FITTED, TARGETS, growth, needed
from studies.dimensions_needed.table import shown


def ranks_needed(table: pd.DataFrame) -> Iterator[str]:
    """Yield, for each vocabulary, the rank of the best head found for each target, held out and where it was fitted."""
    of_vocabularies = table[table.vocabulary.notna()]
    several = of_vocabularies.truth.nunique() > 1
    for (v, truth), part in of_vocabularies.groupby(["vocabulary", "truth"], sort=False):
        told = []
        for nats in TARGETS:
            (held,), (fitted,) = (
                chosen(part, measure=needed(curve, nats)).to_dict("records") for curve in (BEST, FITTED)
            )
            told.append(f"for {nats:g} nats {shown(held)} (where fitted {shown(fitted)})")
        against = f"Over {v:,} tokens, against {named(truth, several)}"
        yield f"{against}, the best head found needs this rank: {', '.join(told)}."


def grows(table: pd.DataFrame) -> Iterator[str]:
    """Yield, for each target, the power of the number of tokens with which the rank grows, also where fitted."""
    for nats in TARGETS:
        for row in selected(table, measure=growth(nats)).itertuples():
            fitted = chosen(table, measure=growth(nats, FITTED), truth=row.truth)
            where_fitted = "".join(f" (where fitted {_power(other)})" for other in fitted.itertuples())
            yield (
                f"The rank that forces no more than {nats:g} nats grows as the number of tokens to the power "
                f"{_power(row)}{where_fitted}, over {row.n} vocabularies of {named(row.truth)}."
            )


def _power(row: Any) -> str:
    return f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]"
