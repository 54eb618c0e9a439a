"""How much of the gradient passes a head, in a sentence."""

from collections.abc import Iterator

import pandas as pd

from oversmoothing.claims.story.answers import at_ends
from studies.imposed_rank.finding import by_way

__all__ = ["by_way", "passed"]


def passed(table: pd.DataFrame) -> Iterator[str]:
    """Yield the share of the gradient that a head lets through, at the last step."""
    sentence = "The share of the squared gradient of the logits that passes the head at the end of training is {}."
    last = table[table.step == table.step.max()]
    return at_ends(last, sentence, alone="It has no interval.", measure="gradient_share", kind="family")
