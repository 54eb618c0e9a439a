"""Head of a model as the matrix of an exponential family: what stands between its logits and what is free."""

from pathlib import Path

from oversmoothing.forced.head import Head, prepare
from oversmoothing.imposed_rank.applied import read_retrained
from oversmoothing.spectra import behind_norm, read_bias, read_gain, read_head, truncate

RETRAINED = ("retrained", "normed")


def read_model_head(path: str | Path, kind: str, rank: int | None) -> Head:
    """Head of a model, prepared for projections.

    Parameters
    ----------
    path : path
        Weights of the model or of the model whose head was truncated, a head alone, or a retrained head.
    kind : str
        As in `plan.models.Model`. Of kind "svd" the head is truncated; "retrained" and "normed" ones are heads alone.
    rank : int or None
        Rank of a truncated head.

    Returns
    -------
    Head
        Where a LayerNorm stands before the head, restricted to the dimensions that it leaves free, one fewer than it
        has; so what is forced is a lower bound of what norm and head force. A head alone is free in all of its own.
    """
    if kind in RETRAINED:
        weights, _ = read_retrained(path)
        return prepare(weights)
    weights, gain = read_head(path), read_gain(path)
    if kind == "svd":
        weights = truncate(weights, rank or 1)
    return prepare(weights if gain is None else behind_norm(weights, gain), read_bias(path))
