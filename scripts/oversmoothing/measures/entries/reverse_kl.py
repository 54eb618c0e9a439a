"""KL in the other direction: how surprised a model's own text would leave the truth."""

import numpy as np

from oversmoothing.forced.divergence import divergence
from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.entries.side_by_side import LOG_FLOOR
from oversmoothing.measures.window import Window


def reverse_kl(window: Window) -> dict[str, np.ndarray]:
    r"""Return :math:`\sum_i q_i \ln(q_i / p_i)` of the model q and the truth p, in nats."""
    return {"reverse_kl": divergence(np.exp(window.log_q), np.maximum(window.log_p, LOG_FLOOR))}


MEASURE = Measure(
    "reverse_kl",
    reverse_kl,
    needs=("logits", "truth"),
    statistics={"reverse_kl": Statistic(("reverse_kl",), "reverse KL (nats)", "nats", "lower", decimals=None)},
    table="side_by_side",
)
