"""The distributions that a head can give nearest to truths, from log-probabilities in place of logits in files."""

from dataclasses import replace

import numpy as np

from oversmoothing.forced.certificate import certify
from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.projection import LARGEST_DENSE, Projection, project_on
from oversmoothing.measures.entries.forced import family
from oversmoothing.models.heads import ModelHead


def whole(p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """Return the KL divergence of log-probabilities from truths p (n, v), in nats, of which the head forces a part."""
    return divergence(p, log_q)


def nearest(head: ModelHead, p: np.ndarray, log_q: np.ndarray, certified: bool = False) -> Projection:
    """Return the distributions that a head can give nearest to truths p (n, v), from a model's log-probabilities.

    With `certified` the gaps are proved without rounding where that takes no seconds a position.
    """
    prepared = head.once(family)
    found = project_on(prepared, p, log_q)
    if certified and prepared.columns.size * prepared.columns.shape[1] <= LARGEST_DENSE:
        return replace(found, gap=certify(prepared, p, found))
    return found
