"""Screen in float32: which classes provably lead in the direction of their own whitened row.

In whitened coordinates r_j = B^T (w_j - mean), with B = `back`^T, the logits at h_i = B r_i are r_j . r_i up to a
constant. So one symmetric product tells of all classes whether they lead there, at half the operations, and most do.
By Cauchy and Schwarz a part of the coordinates and the length of the rest bound the products, with fewer operations:
the closer in length two rows are, the fewer coordinates tell. So rows are compared by falling length, a block with a
block, and those classes that a part of the coordinates leaves open are compared once more by all.
Products are in float32; a bound of all errors makes each lead a proof for the h_i that is returned:

- in float64 the rows are B^T (w_j - mean) + e_j with |e_j| <= gamma |B| |w_j - mean|, and h_i is B r_i + f_i with
  |f_i| <= gamma |B| |r_i|, so (w_j - mean) . h_i is r_j . r_i up to 2 gamma |B| |r_i| |w_j - mean|;
- rounding the r to float32 and their product change that by at most gamma' |r_j| |r_i|, in float32.

|B| is the Frobenius norm. Each bound is at least twice what is needed, which leaves room for the rounding of itself,
and of h_i when it is scaled to length 1. The rounding of h_i to the precision in which it is kept is counted apart.
"""

from collections.abc import Iterator

import numpy as np

BLOCK = 2048  # rows at a time
GROUP = 8  # blocks that are compared with each block of longer rows while it is in float32
SHARES = np.arange(1, 14) / 16  # of the coordinates, of which the least that probably tells is multiplied first
SPREAD = 4.5  # standard deviations of a product of random rows, above which hardly one of them lies


def leads(
    rows: np.ndarray, back: np.ndarray, longest: float, precision: type[np.floating]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield some classes (n,), for each an h of length 1 (n, d), and a lower bound of its lead there (n,).

    `rows` (v, m) are the products of the centred rows of a head, of which `longest` bounds the norm, with the transpose
    of `back` (m, d), computed in float64. The h are kept in `precision`. The leads that are positive are proved. The
    head has no bias.
    """
    v, (m, d) = len(rows), back.shape
    norms, size = np.sqrt(np.einsum("vm,vm->v", rows, rows)), np.linalg.norm(back)
    single, double, kept = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64, precision))
    error = 2 * (m + 4) * single * norms.max(initial=0) + 4 * (m + d + 8) * double * size * longest
    enough = norms**2 - error * norms
    ahead = enough - _highest(rows, norms, enough)
    for start in range(0, v, BLOCK):
        block = slice(start, start + BLOCK)
        hidden = rows[block] @ back
        length = np.linalg.norm(hidden, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            lead = ahead[block] / length[:, 0] - 2 * kept * longest
            yield np.arange(v)[block], hidden / length, np.where(np.isfinite(lead), lead, -np.inf)


def _highest(rows: np.ndarray, norms: np.ndarray, enough: np.ndarray) -> np.ndarray:
    """Bound the largest product of each row with another one, in float32 (v,), as far as `enough` is not reached."""
    order, highest = np.argsort(-norms, kind="stable"), np.full(len(rows), -np.inf)
    blocks = [order[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
    for start in range(0, len(blocks), GROUP):
        group = [_Block(rows, norms, places) for places in blocks[start : start + GROUP]]
        for at, places in enumerate(blocks[: start + len(group)]):
            other = group[at - start] if at >= start else _Block(rows, norms, places)
            for some in group[max(0, at - start) :]:
                _compare(some, other, highest, enough)
    return highest


class _Block:
    """Some rows in float32."""

    def __init__(self, rows: np.ndarray, norms: np.ndarray, places: np.ndarray) -> None:
        self.places, self.norms, self.rows = places, norms[places], rows[places].astype(np.float32)

    def shortened(self, left_out: int) -> np.ndarray:
        """Replace the first coordinates, in which rows vary most before they are white, by their length."""
        if not left_out:
            return self.rows
        length = np.linalg.norm(self.rows[:, :left_out], axis=1, keepdims=True)
        return np.concatenate([length, self.rows[:, left_out:]], axis=1)


def _compare(some: _Block, other: _Block, highest: np.ndarray, enough: np.ndarray) -> None:
    """Raise the bounds of rows of both blocks by their products with rows of the other one; `other` is no shorter."""
    m = max(1, some.rows.shape[1])
    ratio = other.norms.max() / max(float(some.norms.min()), 1e-300)
    tells = ratio * (1 - SHARES + SPREAD * np.sqrt(SHARES / m)) < 1
    left_out = round((1 - SHARES[tells.argmax()]) * m) if tells.any() else 0
    products = some.shortened(left_out) @ other.shortened(left_out).T
    if some is other:
        np.fill_diagonal(products, -np.inf)
    for one, two, best in ((some, other, products.max(axis=1)), (other, some, products.max(axis=0))):
        beaten = highest[one.places] >= enough[one.places]
        open_ = np.flatnonzero((best >= enough[one.places]) & ~beaten)
        if left_out and len(open_):
            exact = one.rows[open_] @ two.rows.T
            if one is two:
                exact[np.arange(len(open_)), open_] = -np.inf
            best[open_] = exact.max(axis=1)
        highest[one.places] = np.maximum(highest[one.places], best)
