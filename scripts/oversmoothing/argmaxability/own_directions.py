"""Screen in float32: which classes provably lead in the direction of their own whitened row.

In whitened coordinates r_j = B^T (w_j - mean), with B = `back`^T, the logits at h_i = B r_i are r_j . r_i up to a
constant. So one symmetric product tells of all classes whether they lead there, at half the operations, and most do.
By Cauchy and Schwarz a part of the coordinates and the length of the rest bound the products, with fewer operations.
Products are in float32; a bound of all errors makes each lead a proof for the h_i that is returned:

- in float64 the rows are B^T (w_j - mean) + e_j with |e_j| <= gamma |B| |w_j - mean|, and h_i is B r_i + f_i with
  |f_i| <= gamma |B| |r_i|, so (w_j - mean) . h_i is r_j . r_i up to 2 gamma |B| |r_i| |w_j - mean|;
- rounding the r to float32 and their product change that by at most gamma' |r_j| |r_i|, in float32.

|B| is the Frobenius norm. Each bound is at least twice what is needed, which leaves room for the rounding of itself,
and of h_i when it is scaled to length 1. The rounding of h_i to the precision in which it is kept is counted apart.
"""

from collections.abc import Iterator

import numpy as np

BLOCK = 4096  # rows at a time


def leads(
    rows: np.ndarray, back: np.ndarray, longest: float, precision: type[np.floating], share: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield some classes (n,), for each an h of length 1 (n, d), and a lower bound of its lead there (n,).

    `rows` (v, m) are the products of the centred rows of a head, of which `longest` bounds the norm, with the transpose
    of `back` (m, d), computed in float64. The h are kept in `precision`. A `share` of the coordinates is multiplied.
    The leads that are positive are proved. The head has no bias.
    """
    v, (m, d) = len(rows), back.shape
    norms, size = np.sqrt(np.einsum("vm,vm->v", rows, rows)), np.linalg.norm(back)
    single, double, kept = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64, precision))
    error = 2 * (m + 4) * single * norms.max(initial=0) + 4 * (m + d + 8) * double * size * longest
    ahead = norms**2 - error * norms - _highest(rows, round((1 - share) * m))
    for start in range(0, v, BLOCK):
        block = slice(start, start + BLOCK)
        hidden = rows[block] @ back
        length = np.linalg.norm(hidden, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            lead = ahead[block] / length[:, 0] - 2 * kept * longest
            yield np.arange(v)[block], hidden / length, np.where(np.isfinite(lead), lead, -np.inf)


def _highest(rows: np.ndarray, left_out: int) -> np.ndarray:
    """Bound the largest product of each row with another one, in float32 (v,); exact if no coordinate is left out."""
    highest = np.full(len(rows), -np.inf)
    for start in range(0, len(rows), BLOCK):
        some = _shortened(rows[start : start + BLOCK], left_out)
        for other in range(0, start + 1, BLOCK):
            products = some @ _shortened(rows[other : other + BLOCK], left_out).T
            if other == start:
                np.fill_diagonal(products, -np.inf)
            for at, best in ((start, products.max(axis=1)), (other, products.max(axis=0))):
                highest[at : at + len(best)] = np.maximum(highest[at : at + len(best)], best)
    return highest


def _shortened(rows: np.ndarray, left_out: int) -> np.ndarray:
    """Replace the first coordinates, in which rows vary most before they are white, by their length; in float32."""
    length = np.linalg.norm(rows[:, :left_out], axis=1, keepdims=True)
    return np.concatenate([length, rows[:, left_out:]], axis=1, dtype=np.float32)
