"""Probability of what stands for no text, such as the end of a text."""

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window


def dropped(window: Window) -> dict[str, np.ndarray]:
    """Return the probability that a model gives to ids that are no tokens of the text, or to no byte."""
    assert window.dropped is not None
    return {"dropped": window.dropped}


MEASURE = Measure(
    "dropped",
    dropped,
    needs=("logits", "dropped"),
    statistics={"dropped": Statistic(("dropped",), "dropped", "probability", decimals=None)},
    table="losses",
)
