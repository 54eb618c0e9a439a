"""How many dimensions a model's representations use (thesis, Table 7.3)."""

import math

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.measures.sample import Sample
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.numerics.singular_values import count_above, effective_rank, singular_values
from oversmoothing.scores.probabilities import softmax

THRESHOLD = 0.01  # share of the largest singular value above which one counts
PRECISION = float(np.finfo(np.float32).eps)  # of all stored arrays


def ranks(sample: Sample) -> dict[str, np.ndarray]:
    """Return three measures of the rank of each representation, with the shape (n, d) of its matrix.

    They are ``effective_rank``; ``above_threshold``, the number of singular values above `THRESHOLD` times the largest;
    and ``numerical_rank``, the number above eps / 2 sqrt(n + d + 1) times the largest, the rounding error to expect in
    float32 (Press et al. 2007). The usual max(n, d) eps is some fifty times larger and would discard true directions. A
    `ValueError` names a matrix that is empty or not finite.

    References
    ----------
    W. H. Press et al., "Numerical recipes", third edition, Cambridge 2007, section 2.6.
    """
    rows = []
    for name, matrix in matrices(sample).items():
        try:
            sigma = singular_values(matrix)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        values = {
            "effective_rank": effective_rank(sigma),
            "above_threshold": count_above(sigma, THRESHOLD),
            "numerical_rank": count_above(sigma, PRECISION / 2 * math.sqrt(sum(matrix.shape) + 1)),
        }
        rows += [(name, measure, float(value), *matrix.shape) for measure, value in values.items()]
    kinds = {"representation": str, "measure": str, "value": float, "n": np.int32, "d": np.int32}
    columns = zip(kinds.items(), zip(*rows, strict=True), strict=True)
    return {name: np.array(column, kind) for (name, kind), column in columns}


def matrices(sample: Sample) -> dict[str, np.ndarray]:
    """Return what a model represents its input by, and its head W (v, r).

    These are ``logits`` (n, v), ``probabilities`` (n, v; float64), ``post`` (n, r), ``pre`` (n, width), ``head`` and
    ``reachable_head`` (v, r), its restriction by the LayerNorm. That is absent if a Linear layer lies between LayerNorm
    and head, because any h can then be reached.
    """
    try:
        probabilities = softmax(sample.logits.astype(np.float64))
    except ValueError as error:
        raise ValueError(f"logits: {error}") from error
    head = sample.head
    found = {"logits": sample.logits, "probabilities": probabilities, "post": sample.post, "pre": sample.pre}
    found["head"] = head.weights
    return found if head.gain is None else {**found, "reachable_head": behind_norm(head.weights, head.gain)}


def _of(label: str, decimals: int) -> Statistic:
    return Statistic(("value",), label, "dimensions", decimals=decimals)


MEASURE = Measure(
    "ranks",
    ranks,
    needs=("logits", "hidden", "head"),
    statistics={
        "effective_rank": _of("Effective rank: exp of the entropy of the singular values as shares of their sum", 2),
        "above_threshold": _of("Singular values above 1 % of the largest", 0),
        "numerical_rank": _of("Numerical rank: singular values above the roundoff of float32", 0),
    },
    table="effective_rank",
    over="sample",
)
