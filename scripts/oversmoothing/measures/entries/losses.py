"""How well a model predicts the text: losses and accuracy."""

import math

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.window import Window


def losses(window: Window) -> dict[str, np.ndarray]:
    """Return minus the log-probability of each target, and whether it is the most probable token."""
    n = len(window.targets)
    nats = -window.log_q[np.arange(n), window.targets]
    right = (window.model.argmax(axis=1) == window.targets).astype(np.float64)  # ties go to the lowest token
    sizes = np.ones(n) if window.sizes is None else window.sizes
    return {"loss": nats, "bits": nats / math.log(2), "bytes": sizes, "accuracy": right}


MEASURE = Measure(
    "losses",
    losses,
    needs=("logits", "targets"),
    statistics={
        "loss": Statistic(("loss",), "loss, nats per {unit}", "nats per {unit}", "lower"),
        "loss_per_byte": Statistic(("loss", "bytes"), "loss, nats per byte", "nats per byte", "lower", kind="ratio"),
        "bits_per_byte": Statistic(("bits", "bytes"), "loss, bits per byte", "bits per byte", "lower", kind="ratio"),
        "accuracy": Statistic(("accuracy",), "accuracy", "share of {unit}s", "higher"),
    },
    table="losses",
)
