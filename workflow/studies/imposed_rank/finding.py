"""Ways to impose a rank, in words."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from oversmoothing.claims.story.answers import at_lowest

WAYS = {
    "family": "learned with a narrow head",
    "plain": "learned with a narrow head W = A B",
    "matched": "learned with W = A B that starts as large as a full head",
    "backward": "learned with the rank on the gradient alone",
    "svd": "with the full model's head cut",
    "retrained": "with W = A B trained on the frozen full model",
    "normed": "with W = A B and a LayerNorm in it trained on the frozen full model",
}


def by_way(table: pd.DataFrame, sentence: str, **where: Any) -> Iterator[str]:
    """Yield a sentence with numbers of each way at the lowest rank (see `at_lowest`)."""
    return at_lowest(table, sentence, "kind", WAYS, **where)
