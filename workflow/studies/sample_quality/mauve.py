"""MAUVE: similarity of a set of samples to a human set, in the features of a language model (thesis 5.2)."""

from functools import cache

import numpy as np
from mauve.compute_mauve import compute_mauve
from threadpoolctl import ThreadpoolController

from oversmoothing.standard_error import silenced

LEAST = 100  # samples; with fewer the score is nearly meaningless: 15 against 15 always score 1


def why_not(human: np.ndarray, model: np.ndarray) -> str | None:
    """Return why two sets of features cannot be compared by MAUVE; None if they can."""
    fewest = min(len(human), len(model))
    if fewest < LEAST:
        return f"{fewest} samples; MAUVE needs at least {LEAST}"
    empty = int((~np.isfinite(human).all(axis=1)).sum() + (~np.isfinite(model).all(axis=1)).sum())
    return f"{empty} samples hold no token and have no features" if empty else None


def mauve(human: np.ndarray, model: np.ndarray) -> float:
    """Return the MAUVE of two sets of features, (n, d) and (m, d), with the defaults of the package, as in the thesis.

    These are n/10 clusters, a PCA that keeps 90 % of the variance, scaling factor 5, 25 points on the curve, and seed
    25. The score is 0 to 1; higher is better, 1 for equal sets. The sets are those of
    which `why_not` returns None.

    References
    ----------
    K. Pillutla et al., "MAUVE: measuring the gap between neural text and human text using divergence frontiers",
    NeurIPS 2021.
    """
    # One thread, so that sums do not depend on the number of cores; so few points need no more. On each call faiss
    # writes advice on cluster sizes.
    with _libraries().limit(limits=1), silenced():
        score = float(compute_mauve(p_features=human, q_features=model).mauve)
    return round(score, 9)  # equal sets may miss 1 by 1e-16


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries with threads, which to find takes a third of the time of a score."""
    return ThreadpoolController()
