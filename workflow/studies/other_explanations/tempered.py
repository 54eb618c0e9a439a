"""What a model shows at other temperatures: the control for objectives that make it sharper or flatter."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from oversmoothing.models.window_logits import read_logits
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.score import score_window

TEMPERATURES = tuple(round(1.5 - 0.05 * i, 2) for i in range(24))  # hottest first, down to 0.35
METRICS = ("tto", "tv", "kl")
TRUTH = "truth"


def tempered(logits: str, truth: str, tau: float) -> Iterator[dict[str, Any]]:
    """Yield ``temperature``, ``measure`` and ``value``: the means of the metrics over all positions of two files."""
    decoders = {str(t): partial(temperature, t=t) for t in TEMPERATURES}
    scores: dict[tuple[str, str], list[np.ndarray]] = {}
    for window in read_logits(logits, {TRUTH: truth}):
        for metric, by_temperature in score_window(window, decoders, METRICS, tau)[TRUTH].items():
            for t, values in by_temperature.items():
                scores.setdefault((metric, t), []).append(values)
    for (metric, t), parts in scores.items():
        value = float(np.concatenate(parts).mean(dtype=np.float64))
        yield {"temperature": float(t), "measure": metric, "value": value}
