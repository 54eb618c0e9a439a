"""Rows of a head for many rare tokens, after a fit to the common ones in which one row stood for all rare tokens.

That fit leaves hidden vectors h_i and the logarithms z_i of their normalisers. With both fixed, each row w_j minimises
its own convex function

    f_j(w) = sum_i (exp(h_i w - z_i) - p_ij h_i w).

Let q_ij = exp(h_i w_j - z_i), and let Z_i be its sum over all tokens. But for a constant, the sum of all f_j is the
divergence of the normalised q, and Z_i - 1 - log Z_i >= 0 at each position. So it bounds the divergence from above.
"""

import numpy as np
from scipy.linalg import lstsq

from oversmoothing.forced.head import pair_products
from oversmoothing.forced.projection import LOWEST, second_moments

STEPS = 8
RIDGE = 1e-6  # of a row's metric, relative to its mean diagonal
NUMBERS = 1 << 22  # in the metrics of the rows that move together


def common_mass(p: np.ndarray, common: int) -> float:
    """Return the mean mass of truths (n, v) on so many tokens, the most probable ones."""
    return float(np.partition(p.mean(axis=0), -common)[-common:].sum())


def divided(p: np.ndarray, common: int) -> tuple[np.ndarray, np.ndarray]:
    """Return tokens from the most probable on, int (v,), and truths of the first ones with the sum of all others."""
    order = np.argsort(-p.mean(axis=0), kind="stable")
    return order, np.column_stack([p[:, order[:common]], p[:, order[common:]].sum(axis=1)])


def rows_of(p: np.ndarray, row: np.ndarray, hidden: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """Return rows (m, r) for tokens of truths p (n, m), in place of one row (r,) of log-probability `log_q` (n,).

    `hidden` (n, r) enters the head.
    """
    level = (log_q - hidden @ row)[:, None]
    with np.errstate(divide="ignore"):
        shares = np.maximum(np.log(p), LOWEST) - np.maximum(np.log(p.sum(axis=1, keepdims=True)), LOWEST)
    rows = row + lstsq(hidden, shares)[0].T
    size = max(1, NUMBERS // (len(row) ** 2 + len(p)))
    for begin in range(0, len(rows), size):
        some = slice(begin, begin + size)
        rows[some] = _lowered(p[:, some], rows[some], hidden, level)
    return rows


def _lowered(p: np.ndarray, rows: np.ndarray, hidden: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return rows (m, r) after steps in the metric sum_i max(p_ij, q_ij) h_i h_i^T, of those that lower their f_j."""
    unit, pairs = np.eye(rows.shape[1]), pair_products(hidden)
    q, values = _values(p, rows, hidden, level)
    for _ in range(STEPS):
        metric = second_moments(hidden, np.maximum(p, q).T, pairs)
        mean = np.trace(metric, axis1=1, axis2=2) / len(unit)
        metric += np.maximum(RIDGE * mean, 1e-300)[:, None, None] * unit
        moved = rows + np.linalg.solve(metric, ((p - q).T @ hidden)[:, :, None])[:, :, 0]
        reached, lower = _values(p, moved, hidden, level)
        falls = lower < values
        rows, q, values = np.where(falls[:, None], moved, rows), np.where(falls, reached, q), np.minimum(lower, values)
    return rows


def _values(p: np.ndarray, rows: np.ndarray, hidden: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return q (n, m) and all f_j (m,), infinite where they overflow."""
    z = hidden @ rows.T + level
    with np.errstate(over="ignore"):
        q = np.exp(z)
    return q, q.sum(axis=0) - np.einsum("ij,ij->j", p, z)
