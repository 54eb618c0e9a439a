"""An equivalent head in place of one whose columns are linearly dependent up to rounding.

The product of two factors, in floats, has the rank of the factors and, below it, what rounding left; a bias can be an
affine function of the rows up to rounding. Which classes are argmaxable then depends on that remainder, some 1e-16 of
the weights, which no float method sees beside them. But a linear map of h, a shift of h and constants added to all
logits change no class: so each column that others combine to becomes its difference from their combination, computed
exactly and rounded once, and all columns are scaled to one size.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from oversmoothing.argmaxability.coordinates import NEARLY, triangle

BITS = 20  # a coefficient that is a number of so few bits,
SNAP = 1e-12  # but for so much of its column, probably is one; a column that depends exactly then leaves nothing
SPLIT = 2.0**27 + 1  # divides a float64 into two halves of 26 bits
NUMBERS = 2**20  # in an array of terms


@dataclass(frozen=True)
class Equivalent:
    """A head with the same argmaxable classes, and the map from its hidden vectors to those of the head it replaces."""

    weights: np.ndarray  # (v, k), each entry the exact one, or nearest to it in float64
    bias: np.ndarray | None  # the same, (v,); None if the head has none, or one that is exactly affine in its rows
    unit: float  # what 1 of these logits is of the head's; a power of 2
    _width: int  # of the head
    _kept: np.ndarray  # its columns that are the first of `weights`, scaled,
    _remainders: np.ndarray  # and those whose scaled remainders are the others
    _scales: np.ndarray  # powers of 2 from entries of these hidden vectors to those of the head's
    _coefficients: np.ndarray  # of the kept columns in these, (kept, remainders)
    _shift: np.ndarray  # of the kept columns in the bias

    def to_head(self, hidden: np.ndarray) -> np.ndarray:
        """Return the hidden vectors (n, d) of the head that have the logits of these (n, k), up to rounding."""
        first = len(self._kept)
        result = np.zeros((len(hidden), self._width))
        hidden = hidden * self._scales
        result[:, self._remainders] = hidden[:, first:]
        result[:, self._kept] = hidden[:, :first] - self._shift
        result[:, self._kept] -= result[:, self._remainders] @ self._coefficients.T
        return result

    def to_head_exactly(self, hidden: np.ndarray, kind: type[np.floating]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return them, of type `kind`, and a rest to be added: a class may lead by more digits than a float64 has.

        The third array, (n, d) as they are, bounds the distance of each entry of the sum from the exact one.
        """
        high = self.to_head(hidden).astype(kind)
        rest = np.zeros(high.shape)
        first = len(self._kept)
        for n, (vector, those) in enumerate(zip(hidden * self._scales, high.astype(np.float64), strict=True)):
            products, errors = exact_product(self._coefficients, vector[first:])
            terms = np.column_stack((vector[:first], -self._shift, -those[self._kept], -products, -errors))
            rest[n, self._kept] = exact_sums(terms)
            # A remainder's entry is a float64, and rounded only if `kind` is another.
            rest[n, self._remainders] = vector[first:] - those[self._remainders]
        return high, rest, np.finfo(float).eps * np.abs(rest)


def equivalent(weights: np.ndarray, bias: np.ndarray | None) -> Equivalent | None:
    """Return an equivalent head if columns, or the bias, depend on others up to rounding, and rows depend on others."""
    weights, d = weights.astype(np.float64, copy=False), weights.shape[1]
    offset = np.zeros(len(weights)) if bias is None else bias
    upper, mean, scale, idle = triangle(weights, offset)
    q, r, order = qr(upper[:, :d], mode="economic", pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int((pivots > NEARLY * pivots[:1].sum()).sum())
    kept, dependent = np.sort(order[:rank]), np.sort(order[rank:])
    inside = q[:, :rank].T @ upper
    fit = np.empty((rank, d + 1))
    fit[np.argsort(np.argsort(order[:rank]))] = solve_triangular(r[:rank, :rank], inside)
    has_affine_bias = bias is not None and np.linalg.norm(upper[:, d] - q[:, :rank] @ inside[:, d]) <= NEARLY
    if rank + 1 >= len(weights) or not (len(dependent) or has_affine_bias):
        return None
    columns = np.append(dependent, d) if has_affine_bias else dependent
    size = scale[columns] / scale[kept, None]
    coefficients = _snapped(fit[:, columns] * size, size)
    targets = np.column_stack((weights[:, dependent], offset))[:, : len(columns)]
    constants = _snapped(mean[columns] - mean[kept] @ coefficients, scale[columns])
    constants = np.where(idle[columns], targets[0], constants)
    remainders = np.empty(targets.shape)
    if not np.isfinite(coefficients).all() or max(np.abs(weights).max(), np.abs(coefficients).max(initial=0)) > 1e150:
        return None  # products would overflow
    for block in _blocks(len(weights), 2 * (len(kept) + 1) * len(columns)):
        products, errors = exact_product(weights[block][:, None, kept], coefficients.T)
        ends = np.broadcast_to(-constants, targets[block].shape)
        remainders[block] = exact_sums(np.concatenate((np.dstack((targets[block], ends)), -products, -errors), axis=2))
    largest = np.abs(remainders).max(axis=0)
    powers = np.exp2(np.frexp(largest)[1])
    remainders /= powers
    unit, remaining_bias, shift = 1.0, bias, np.zeros(rank)
    if has_affine_bias:
        shift, remaining_bias = coefficients[:, -1], None
        if largest[-1]:
            unit, remaining_bias = float(powers[-1]), remainders[:, -1]
            if not np.ptp(remaining_bias):  # what differs is lost in rounding
                return None
    present = np.flatnonzero(largest[: len(dependent)])
    kept_powers = np.exp2(np.frexp(np.abs(weights[:, kept]).max(axis=0))[1])
    return Equivalent(
        np.column_stack((weights[:, kept] / kept_powers, remainders[:, present])),
        remaining_bias,
        unit,
        d,
        kept,
        dependent[present],
        unit / np.append(kept_powers, powers[present]),
        coefficients[:, present],
        shift,
    )


def exact_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a product in two floats whose sum is exact, unless it under- or overflows (Dekker 1971)."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def exact_sums(terms: np.ndarray) -> np.ndarray:
    """Return the sums over the last axis, each rounded once."""
    rows = terms.reshape(-1, terms.shape[-1]).tolist()
    return np.array([math.fsum(row) for row in rows]).reshape(terms.shape[:-1])


def _halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    product = SPLIT * x
    high = product - (product - x)
    return high, x - high


def _snapped(values: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Round values to few bits where that changes little beside `size`."""
    mantissa, exponent = np.frexp(values)
    few = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    values = np.where(np.abs(values - few) <= SNAP * size, few, values)
    return np.where(np.abs(values) <= SNAP * size, 0.0, values)


def _blocks(n: int, each: int) -> Iterator[slice]:
    size = max(1, NUMBERS // max(1, each))
    return (slice(start, start + size) for start in range(0, n, size))
