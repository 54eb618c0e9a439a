"""How often speculative sampling keeps a token that a model drafts for a truth."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.scores.decoding import decoder


def acceptance(window: Window, decoding: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the probability that the truth accepts a drafted token, both decoded in the same way.

    A token x drafted from q is accepted with probability min(1, p(x) / q(x)), hence at a rate of sum_i min(p_i, q_i)
    (Leviathan et al. 2023, section 3).
    """
    decode = decoder(decoding)
    rates = np.minimum(decode(window.q), decode(window.p)).sum(axis=1, dtype=np.float64)
    return {"acceptance": rates.astype(np.float32)}  # as in files of scores


MEASURE = Measure(
    "acceptance",
    acceptance,
    needs=("logits", "truth"),
    statistics={"acceptance": Statistic(("acceptance",), "acceptance", "probability", "higher")},
    table="acceptance",
    settings={"decoding": {"name": "pure"}},
)
