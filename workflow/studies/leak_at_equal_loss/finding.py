"""How far a rank's leak and divergence are from the full head's, at equal steps and at equal loss, in sentences."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_each, selected
from oversmoothing.tables.contrasts import over_windows
from studies.leak_at_equal_loss.table import EQUAL, FAMILY, SHORT_CONTEXT

METRICS = {"tto": "TTO", "kl": "KL"}


def differences(table: pd.DataFrame) -> Iterator[str]:
    """Yield TTO and KL of each rank less those of the full head: at equal loss on the windows, then in other ways."""
    main, *others = EQUAL.values()
    ways = [(main, "at equal loss on the scored text", METRICS)]
    ways += [(main + SHORT_CONTEXT, "that sees fewer bytes, at equal loss on the scored text", METRICS)]
    ways += [(f"rank {table['rank'].max()}", "after equal steps", {"tto": "TTO"})]
    ways += [(less, "at equal validation loss instead", {"tto": "TTO"}) for less in others]
    for less, how, measures in ways:
        for measure, name in measures.items():
            rows = selected(over_windows(table), measure=measure, less=less, kind=FAMILY)
            for truth in rows.truth.unique():
                sentence = f"{name} less that of the full head {how}, against {truth}, is {{}}."
                yield from at_each(rows, sentence, difference=True, truth=truth)
