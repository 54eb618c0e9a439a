"""Which classes a head can make the most probable, each with a proof (thesis, Tables B.1 and B.2)."""

import numpy as np

from oversmoothing.argmaxability.classes import EFFORT, argmaxable, reachable
from oversmoothing.argmaxability.result import ARGMAXABLE, UNDECIDED
from oversmoothing.argmaxability.top_sets import IMPOSSIBLE, POSSIBLE, top_sets
from oversmoothing.measures.catalogue import Measure
from oversmoothing.models.heads import ModelHead

FREE, REACHABLE = "free", "reachable"  # for any h; for an h that the last LayerNorm can produce


def argmaxability(head: ModelHead, hidden: np.ndarray | None = None, effort: int = EFFORT) -> dict[str, np.ndarray]:
    """Return whether some h makes each class the most probable: masked, where it is undecided.

    A ``margin`` is the proven lead in logits at a witness of norm 1, and NaN without a witness. The states `hidden`
    (n, r) are tried first as witnesses. Behind a LayerNorm there are rows for both conditions, `FREE` and `REACHABLE`;
    where a Linear layer lies between it and the head, they are the same. Of a head alone the norm is not known.
    """
    parts = {FREE: classes(head.weights, hidden, effort, head.bias)}
    if head.gain is not None:
        parts[REACHABLE] = classes(reachable(head.weights, head.gain), None, effort)
    elif not head.alone:
        parts[REACHABLE] = parts[FREE]
    columns = {name: np.ma.concatenate([part[name] for part in parts.values()]) for name in parts[FREE]}
    return {"condition": np.repeat(list(parts), len(head.weights)), **columns}


def classes(
    weights: np.ndarray, hidden: np.ndarray | None, effort: int, bias: np.ndarray | None = None
) -> dict[str, np.ma.MaskedArray]:
    """Decide the classes of a head (v, r)."""
    found = argmaxable(weights, bias, hidden, effort)
    there = found.status == ARGMAXABLE
    return {
        "class": np.ma.arange(len(weights), dtype=np.int32),
        "argmaxable": np.ma.array(there, mask=found.status == UNDECIDED),
        "margin": np.ma.array(found.margin, mask=~there),
    }


def counted_sets(
    weights: np.ndarray, bias: np.ndarray | None, sets: np.ndarray, searches: int | None, scatter: np.ndarray
) -> dict[str, int]:
    """Count the sets of classes (n, k) that a head can rank above all others, cannot, and those left undecided.

    Arguments are those of `top_sets`.
    """
    status = top_sets(weights, bias, sets, searches, scatter)
    counts = {name: int((status == name).sum()) for name in (POSSIBLE, IMPOSSIBLE)}
    return {"sets": len(sets), **counts, "undecided": len(sets) - sum(counts.values())}


MEASURE = Measure(
    "argmaxability",
    argmaxability,
    needs=("head",),
    statistics={},  # tables name the classes
    table="argmaxability",
    settings={"effort": EFFORT},
    over="head",
)
