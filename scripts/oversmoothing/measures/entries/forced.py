"""What a model's head forces of its KL from the truth, whatever enters it, and the rest."""

import numpy as np

from oversmoothing.forced.division import divide
from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window


def forced(window: Window, per_window: int | None) -> dict[str, np.ndarray]:
    """Return KL at some positions, in nats, the part that the head forces, the rest, and the gap of the proof."""
    assert window.head is not None
    at = window.positions(per_window)
    _, nearest, rest = divide(window.head.prepared, window.model[at], np.exp(window.log_p[at]))
    return {"kl": nearest.forced + rest, "forced": nearest.forced, "rest": rest, "gap": nearest.gap}


MEASURE = Measure(
    "forced",
    forced,
    needs=("logits", "truth", "head"),
    statistics={
        "kl": Statistic(("kl",), "KL there (nats)", "nats", "lower"),
        "forced": Statistic(("forced",), "KL forced by its head", "nats", "lower"),
        "rest": Statistic(("rest",), "the rest of KL there (nats)", "nats", "lower"),
        "share": Statistic(("forced", "kl"), "share of KL forced", "share of KL", "lower", kind="share"),
        "gap": Statistic(("gap",), "largest gap of the proof (nats)", "nats", kind="largest"),
    },
    table="forced",
    settings={"per_window": 1},
)
