"""What a model shows at other temperatures: the control for objectives that make it sharper or flatter."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

from oversmoothing.models.window_logits import read_logits
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.score import score_window
from studies.other_explanations.kinds import MEASURED

TEMPERATURES = tuple(round(1.5 - 0.05 * i, 2) for i in range(24))  # hottest first, down to 0.35
TRUTH = "truth"


def tempered(logits: str, truth: str, tau: float) -> Iterator[dict[str, Any]]:
    """Yield ``temperature``, ``measure`` and ``value``: the means of the metrics over all positions of two files."""
    decoders = {str(t): partial(temperature, t=t) for t in TEMPERATURES}
    totals: dict[tuple[str, str], float] = defaultdict(float)
    positions = 0
    for window in read_logits(logits, {TRUTH: truth}):
        positions += len(window.model)
        for metric, by_temperature in score_window(window, decoders, MEASURED, tau)[TRUTH].items():
            for t, values in by_temperature.items():
                totals[metric, t] += float(values.sum(dtype="float64"))
    for (metric, t), total in totals.items():
        yield {"temperature": float(t), "measure": metric, "value": total / positions}
