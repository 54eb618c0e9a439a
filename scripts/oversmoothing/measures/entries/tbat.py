"""TBAT: the mass that a model gives to tokens that, for all its head can tell, may be impossible.

The thesis defines it in 4.1.6 and shows it in Tables 4.1, E.7 and E.8.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from oversmoothing.bat.basis import Basis, TangentBasis, find_twins, prepare, prepare_tangent
from oversmoothing.bat.reject import LARGEST_DENSE, RejectSet, reject_set
from oversmoothing.jobs import UserError
from oversmoothing.measures.catalogue import POSITION, Measure, Statistic
from oversmoothing.measures.window import Window
from oversmoothing.models.heads import ModelHead
from oversmoothing.numerics.log_ratio import DELTA
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax

FULL, TANGENT = "full", "tangent"  # conditions of stationarity


def tbat(
    window: Window,
    delta: float,
    mass_tolerance: float,
    per_window: int | None,
    windows: int | None,
    decoding: Mapping[str, Any],
    condition: str,
) -> dict[str, np.ndarray]:
    """Return TBAT at some positions: the middle of its bracket, the ends, and how many tokens are undecided."""
    assert window.head is not None
    basis = window.head.once(full if condition == FULL else tangent)
    at = window.positions(per_window, windows)
    p = decoder(decoding)(softmax(window.model[at].astype(np.float64)))
    entered = None if condition == FULL or window.hidden is None else window.hidden[at]
    return {POSITION: at, **mass(basis, p, delta, mass_tolerance, f"window {window.number}", entered)}


def mass(
    basis: Basis, p: np.ndarray, delta: float, mass_tolerance: float, where: str, post: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return the columns of `bounds`, and ``value``, the middle, in float32.

    `where` names the window in errors. A `UserError` is raised if the undecided tokens of a position have more mass
    than `mass_tolerance`. In a vocabulary above `LARGEST_DENSE`, whose sets are not always exact, that is no error: the
    bracket is wider.
    """
    found = bounds(basis, p, delta, mass_tolerance, post)
    width = found["high"] - found["low"]
    if len(basis.columns) <= LARGEST_DENSE and (width > mass_tolerance).any():
        worst = int(np.argmax(width))
        raise UserError(
            f"{where}: BAT left {found['undecided'][worst]} tokens with mass {width[worst]:.3g} undecided at "
            f"position {worst}, more than `metrics.tbat.mass_tolerance`, {mass_tolerance:g}; raise it for a bracket"
        )
    return {"value": ((found["low"] + found["high"]) / 2).astype(np.float32), **found}


def bounds(
    basis: Basis, p: np.ndarray, delta: float, mass_tolerance: float, post: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return the mass of the BAT-reject sets of distributions `p` (n, v), each column (n,).

    ``low`` is that of the rejected tokens, ``high`` that of these and of the ``undecided``, which are counted. `delta`,
    `mass_tolerance` and `post`, (n, r) for a `TangentBasis`, are those of `reject_set`.
    """
    if not len(p):
        return {"low": np.empty(0), "high": np.empty(0), "undecided": np.empty(0, np.int32)}
    sets: RejectSet = reject_set(basis, p, delta, mass_tolerance, post)
    low, high = sets.mass
    return {"low": low, "high": high, "undecided": sets.undecided.sum(axis=1).astype(np.int32)}


def rejected(head: ModelHead, p: np.ndarray, delta: float) -> np.ndarray:
    """Return which tokens BAT rejects of distributions `p` (n, v), bool (n, v), under the condition of the thesis."""
    sets: RejectSet = reject_set(head.once(full), p, delta)
    return sets.rejected


def full(head: ModelHead, columns: np.ndarray | None = None) -> Basis:
    """Return the constraints of the thesis, W^T q = W^T p; from the orthonormal `columns` of W, if they are known."""
    if columns is None:
        return prepare(head.weights)
    return Basis(columns, twins=find_twins(head.weights))


def tangent(head: ModelHead) -> TangentBasis:
    """Return the constraints behind a LayerNorm; a `UserError` is raised if none directly precedes the head."""
    if head.gain is None:
        raise UserError(
            "no LayerNorm stands directly before the head (`model.bottleneck_norm` is before), so the head's input is "
            "not confined to its tangent space; set `metrics.tbat.condition: full`"
        )
    return prepare_tangent(head.weights, head.gain)


MEASURE = Measure(
    "tbat",
    tbat,
    needs=("logits", "head"),
    # As `METRICS` of the scores says; to read it there would compute TBAT again whenever a metric is added.
    statistics={"tbat": Statistic(("value",), "TBAT", "probability", "lower", bracket=("low", "high"))},
    table="oversmoothing",
    settings={
        "delta": DELTA,
        "mass_tolerance": 1e-3,
        "per_window": 1,
        "windows": None,
        "decoding": {"name": "pure"},
        "condition": FULL,
    },
)
