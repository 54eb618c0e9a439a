"""Scores of a model's distributions against the truths', window by window, from their logits."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from oversmoothing.models.window_logits import WindowLogits
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import Array, Decoder, softmax


def score_window(
    window: WindowLogits,
    decoders: Mapping[str, Decoder],
    metrics: Sequence[str],
    tau: float,
    place: Callable[[np.ndarray], Array] | None = None,
) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """Return the scores of one window as ``[truth][metric][decoding]``, float32 arrays of shape (s,).

    `place` moves logits to where they are compared, such as `on_gpu.to_gpu` does; by default they stay in NumPy.
    """
    p_bn = softmax(place(window.model) if place else window.model)
    result = {}
    for truth, logits in window.truths.items():
        p_gt = softmax(place(logits) if place else logits)
        scored = score(p_bn, p_gt, list(decoders.values()), metrics, tau)
        values = scored.cpu().numpy() if place else scored
        result[truth] = {
            metric: {name: values[i, j] for i, name in enumerate(decoders)} for j, metric in enumerate(metrics)
        }
    return result
