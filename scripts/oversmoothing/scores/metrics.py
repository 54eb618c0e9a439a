"""Oversmoothing of next-token distributions relative to a ground truth (thesis 4.1 and Table F.1).

`p_gt` are the truth's distributions and `p_bn` the bottlenecked model's, both float32 or float64 arrays of shape (n, v)
with one distribution per row; a metric returns one value per row in the same dtype. The formulas are declared in
`catalogue.metrics.METRICS`, to which you can add a metric of your own. The workflow calls `score`, which computes
several metrics at once: the truth's nucleus and entropy once, each decoding's logarithms once, in chunks of rows whose
temporaries fit in the processor's cache, whatever the vocabulary and the number of rows. Everything is written against
the array API.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import array_api_compat as api
import numpy as np

from oversmoothing.scores.catalogue.metrics import KL_FLOOR, METRICS, OF_DISTRIBUTIONS, TAU
from oversmoothing.scores.nucleus import LARGE, nucleus
from oversmoothing.scores.probabilities import Array, Decoder, softmax

if TYPE_CHECKING:
    from oversmoothing.models.logit_files import WindowLogits

__all__ = ["clipped", "entropy", "entropy_difference", "kl", "nsmd", "nucleus", "score", "softmax", "tto", "tv"]

# A chunk's size. In NumPy a temporary takes 512 KiB in float32, at v = 256 and at any large v; with less, Python's
# overhead shows. A GPU takes few tokens whole, which is faster, and of a large v so many rows that it is busy.
_ROWS, _VALUES, _VALUES_ON_GPU = 512, 1 << 17, 1 << 22


def tto(p_bn: Array, p_gt: Array, tau: float = TAU) -> Array:
    """Return the tail token overassignment (thesis 4.1.2, equation 4.1).

    It is the sum of max(0, p_bn - p_gt) outside the nucleus.

    Parameters
    ----------
    p_bn, p_gt : array, shape (n, v)
        Distributions of the model and of the truth.
    tau : float
        Mass of the truth's nucleus, in (0, 1].

    Returns
    -------
    array, shape (n,)
        Probability, 0 to 1; lower is better.

    Raises
    ------
    ValueError
        If shapes or dtypes differ, if a value is NaN or not a probability, or if tau lies outside (0, 1].
    """
    return _single("tto", p_bn, p_gt, tau)


def nsmd(p_bn: Array, p_gt: Array, tau: float = TAU) -> Array:
    """Return the nucleus set mass difference (thesis 4.1.3, equation 4.2): the sum of p_gt - p_bn over the nucleus.

    The same sum over the complement is its negative (appendix C). Parameters and errors are those of `tto`.

    Returns
    -------
    array, shape (n,)
        Probability, -1 to 1, at most `tto`; lower is better. Below 0 the model is more peaked than the truth.
    """
    return _single("nsmd", p_bn, p_gt, tau)


def tv(p_bn: Array, p_gt: Array) -> Array:
    """Return the total variation distance (thesis 4.1.4, equation 4.3): half the sum of abs(p_gt - p_bn).

    Parameters and errors are those of `tto`, without tau.

    Returns
    -------
    array, shape (n,)
        Probability, 0 to 1, at least `tto`; lower is better.
    """
    return _single("tv", p_bn, p_gt)


def kl(p_bn: Array, p_gt: Array) -> Array:
    """Return the Kullback-Leibler divergence from the truth (thesis 4.1.5, equation 4.4), p_bn clipped below at 1e-9.

    The formula is that of `catalogue.metrics`, as for all metrics. What a head forces has a KL of its own, without the
    clip: `oversmoothing.forced.divergence`.

    Parameters and errors are those of `tto`, without tau.

    Returns
    -------
    array, shape (n,)
        Nats; lower is better. The clip bounds it by ln 1e9 = 20.7 and may take it below 0 by 1e-7.
    """
    return _single("kl", p_bn, p_gt)


def clipped(p_bn: Array, p_gt: Array) -> Array:
    """Return the truth's mass, shape (n,), on tokens at which `kl` clips the model; its errors are those of `tto`."""
    _check_alike(p_bn, p_gt)
    _check("p_gt", p_gt)
    _check("p_bn", p_bn)
    xp = api.array_namespace(p_bn, p_gt)
    return xp.sum(xp.where(p_bn < KL_FLOOR, p_gt, xp.zeros_like(p_gt)), axis=1)


def entropy_difference(p_bn: Array, p_gt: Array) -> Array:
    """Return the entropy of the truth minus that of the model (thesis Table F.1).

    Parameters and errors are those of `tto`, without tau.

    Returns
    -------
    array, shape (n,)
        Bits; higher is better, up to 0. Below 0 the model is smoother than the truth, above 0 more peaked.
    """
    return _single("entropy_difference", p_bn, p_gt)


def entropy(p: Array) -> Array:
    """Return the Shannon entropy in bits, shape (n,), of distributions (n, v); errors are those of `tto`."""
    _check("p", p)
    out = api.array_namespace(p).empty(p.shape[0], dtype=p.dtype, device=api.device(p))
    for chunk in _chunks(p):
        out[chunk] = _Truth(p[chunk, :]).negative_entropy / -math.log(2)
    return out


def score(
    p_bn: Array, p_gt: Array, decodings: Sequence[Decoder], metrics: Sequence[str] = OF_DISTRIBUTIONS, tau: float = TAU
) -> Array:
    """Score a block of a model's distributions, under several decodings, against one truth (Tables 4.1, 4.2, 6.1, F.1).

    Parameters
    ----------
    p_bn, p_gt : array, shape (n, v)
        Distributions of the model, before decoding, and of the truth; n may be 0.
    decodings : sequence of callables
        Maps from distributions to distributions, as returned by `oversmoothing.scores.decoding.decoder`.
    metrics : sequence of str
        Names from `catalogue.metrics.OF_DISTRIBUTIONS`.
    tau : float
        Mass of the truth's nucleus, in (0, 1].

    Returns
    -------
    array, shape (len(decodings), len(metrics), n)
        Values in the unit of each metric, in the dtype of `p_bn`.

    Raises
    ------
    ValueError
        If shapes or dtypes differ, a value is NaN or not a probability, a metric is unknown or tau is out of range.
    """
    if unknown := [name for name in metrics if name not in OF_DISTRIBUTIONS]:
        raise ValueError(f"unknown metric {unknown[0]!r}; use one of {', '.join(OF_DISTRIBUTIONS)}")
    formulas = [formula for name in metrics if (formula := METRICS[name].formula)]
    _check_alike(p_bn, p_gt)
    xp = api.array_namespace(p_bn, p_gt)
    n = p_bn.shape[0]
    out = xp.empty((len(decodings), len(metrics), n), dtype=p_bn.dtype, device=api.device(p_bn))
    for chunk in _chunks(p_bn):
        truth, model = _Truth(p_gt[chunk, :], tau), p_bn[chunk, :]
        _check("p_gt", truth.p, chunk.start)
        _check("p_bn", model, chunk.start)
        for i, decoding in enumerate(decodings):
            pair = _Pair(decoding(model), truth)
            for j, formula in enumerate(formulas):
                out[i, j, chunk] = formula(pair)
    return out


class _Truth:
    """A truth's distributions and the quantities that every comparison with them shares, each computed on first use."""

    def __init__(self, p: Array, tau: float = TAU) -> None:
        self.p: Array = p
        self.tau = tau
        self.xp: Any = api.array_namespace(p)

    @cached_property
    def nucleus(self) -> Array:
        """The nucleus as 0.0 and 1.0; multiplying by it is faster than indexing with a mask."""
        return self.xp.astype(nucleus(self.p, self.tau), self.p.dtype)

    @cached_property
    def outside(self) -> Array:
        return 1 - self.nucleus

    @cached_property
    def negative_entropy(self) -> Array:
        return self.dot(self.p, self.log(self.p))  # nats

    def log(self, p: Array) -> Array:
        """Return the logarithm that is finite at 0, so that 0 log 0 is 0.

        Of many tokens it is in float64, as `dot` needs it.
        """
        if p.shape[1] > LARGE:
            p = self.xp.astype(p, self.xp.float64)
        # Adding the smallest normal number changes no term p log p and is faster than maximum().
        return self.xp.log(p + float(self.xp.finfo(p.dtype).smallest_normal))

    def dot(self, a: Array, b: Array) -> Array:
        """Sum the products in each row; of many tokens in float64, because float32 is off by up to 3e-3 bits there."""
        if a.shape[1] > LARGE:
            return self.xp.sum(a * b, axis=1, dtype=self.xp.float64)
        return self.xp.vecdot(a, b)


class _Pair:
    """A model's distributions beside a truth's, with the quantities that several metrics share."""

    def __init__(self, p: Array, truth: _Truth) -> None:
        self.p: Array = p
        self.truth: _Truth = truth
        self.xp: Any = truth.xp
        self.dot: Callable[[Array, Array], Array] = truth.dot

    @cached_property
    def difference(self) -> Array:
        return self.p - self.truth.p

    @cached_property
    def excess(self) -> Array:
        return self.xp.maximum(self.difference, 0.0)

    @cached_property
    def log(self) -> Array:
        return self.truth.log(self.p)

    def sum(self, x: Array) -> Array:
        """Sum each row, as `dot` does; in NumPy a product with ones is faster than sum()."""
        if x.shape[1] > LARGE:
            return self.xp.sum(x, axis=1, dtype=self.xp.float64)
        return self.xp.matmul(x, self.xp.ones(x.shape[1], dtype=x.dtype, device=api.device(x)))


def _chunks(p: Array) -> Iterator[slice]:
    """Yield slices of the rows of `p` (n, v)."""
    n, v = p.shape
    if v <= LARGE:
        rows = _ROWS if api.is_numpy_array(p) else max(n, 1)
    else:
        rows = max((_VALUES if api.is_numpy_array(p) else _VALUES_ON_GPU) // v, 1)
    for start in range(0, n, rows):
        yield slice(start, min(start + rows, n))


def _single(name: str, p_bn: Array, p_gt: Array, tau: float = TAU) -> Array:
    return score(p_bn, p_gt, [lambda p: p], [name], tau)[0, 0, :]


def _check_alike(p_bn: Array, p_gt: Array) -> None:
    if p_bn.ndim != 2 or p_bn.shape != p_gt.shape:
        raise ValueError(f"p_bn {tuple(p_bn.shape)} and p_gt {tuple(p_gt.shape)} must have the same shape (n, v)")
    xp = api.array_namespace(p_bn, p_gt)
    if p_bn.dtype != p_gt.dtype or p_bn.dtype not in (xp.float32, xp.float64):
        raise ValueError(f"p_bn ({p_bn.dtype}) and p_gt ({p_gt.dtype}) must both be float32 or both float64")


def _check(name: str, p: Array, first_row: int = 0) -> None:
    """Reject values that are not probabilities; NaN fails every comparison."""
    xp = api.array_namespace(p)
    highest = 1 + 1e-3  # a sum in float32 may round up
    if p.shape[0] == 0 or (xp.min(p) >= 0 and xp.max(p) <= highest):
        return
    bad = xp.any(~((p >= 0) & (p <= highest)), axis=1)
    row = int(xp.argmax(xp.astype(bad, xp.int64)))
    raise ValueError(f"{name}: row {first_row + row} has NaN, a negative value or one above 1: not probabilities")


def score_window(
    window: "WindowLogits",
    decoders: Mapping[str, Decoder],
    metrics: Sequence[str],
    tau: float,
    place: Callable[[np.ndarray], Array] | None = None,
) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """Return the scores of one window as ``[truth][metric][decoding]``, float32 (s,); `place` moves logits first."""
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
