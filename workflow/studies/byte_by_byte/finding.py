"""Which bytes a model never predicts, in a sentence."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_ends
from oversmoothing.tables.record import record
from studies.byte_by_byte.table import never_argmax, text_of


def never_predicted(table: pd.DataFrame) -> Iterator[str]:
    """Yield how many of the bytes that occur are never a model's most probable one."""
    never = never_argmax(table)
    models = table.drop_duplicates("model")[["model", "kind", "rank", "seed"]].dropna(subset="model")
    counts = record(models.assign(value=[len(never[model]) for model in models.model]))
    occur = int((text_of(table).occurrences > 0).sum())
    sentence = (
        f"Of the {occur} bytes that occur in the text, those that are nowhere a model's most probable byte number {{}}."
    )
    return at_ends(counts, sentence, decimals=0, kind="family")
