"""The head of a given rank that forces least on given truths: the best one found, so an upper bound.

For truths p_1 ... p_n, F(W) = (1/n) sum_i min_h KL(p_i || softmax(W h)) is minimised over the heads W (v x r). This is
exponential-family principal component analysis. The divergence is convex in all h for fixed W and in W for fixed h, but
not in both, so the minimum that is found may be a local one. W and all h are moved together (`descent`); alternating
between the two, each solved exactly, comes to the same minima in many times the time. In the end every truth is
projected onto the head (`projection`), so what is reported is F(W), with its proved gaps.

Over a large vocabulary most of the descent goes over common tokens, with all others as one. Then the others get rows of
their own (`rare_tokens`), and all move a little.

The heads have no bias, as the models' have none. A bias is worth one column at most: W h + b = [W, b] (h, 1).

References
----------
M. Collins, S. Dasgupta and R. Schapire, "A generalization of principal component analysis to the exponential family",
NIPS 2001. G. Gordon, "Generalized^2 linear^2 models", NIPS 2002.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from oversmoothing.forced.descent import BLOCKS, KEPT, descend, whitened
from oversmoothing.forced.projection import LOWEST, Projection, project
from oversmoothing.forced.rare_tokens import common_mass, divided, rows_of
from oversmoothing.numerics.distributions import distributions

ITERATIONS = 200  # of the descent before its coordinates are renewed
ROUNDS = 6  # of so many iterations, at most
SETTLED = 2e-3  # share of the divergence; a round that gains less is the last
TOLERANCE = 1e-9  # nats, of the gaps
LARGE, MOST = 8192, 0.75  # tokens and probability of common ones, from which on a descent begins with
COMMON = 2048  # of them, and the others as one. It ends with rounds over all tokens,
FINAL, FINAL_SETTLED = 50, 0.05  # of so many iterations, the last of which gains less than this share
OVERHEAD = 6 << 27  # bytes that projections take in any case


@dataclass(frozen=True)
class BestHead:
    """The best head W (v, r) that was found, and what it forces on each truth, in nats, with its gap (n,)."""

    weights: np.ndarray
    forced: np.ndarray
    gap: np.ndarray


def best_head(
    p: np.ndarray,
    rank: int,
    start: np.ndarray | None = None,
    rounds: int = ROUNDS,
    step: Callable[[], object] = lambda: None,
    span: np.ndarray | None = None,
) -> BestHead:
    """Find a head of a rank that forces little on truths, by local minimisation of the mean forced divergence.

    Parameters
    ----------
    p : array, shape (n, v)
        Truths.
    rank : int
        r, the number of columns, at least 1. From v - 1 on nothing is forced, and nothing is fitted.
    start : array, shape (v, k), optional
        A head with k <= r columns. It gets r - k more, and the result forces at most what it does, on the mean of the
        truths; of one outside `span`, what its projection there does. None: the head of `leading`. Over more than
        `LARGE` tokens it is one that is fitted to common tokens.
    rounds : int
        Of `ITERATIONS` iterations, over all of many tokens `FINAL`; 0: the start, with its further columns.
    step : callable
        Is called after each iteration.
    span : array, shape (v, d), optional
        A head of at least r columns, which is to give every column of the result as a sum of its own: d r numbers are
        fitted in place of v r, so that fewer truths suffice.

    Raises
    ------
    ValueError
        If the rank is below 1 or that of `start`, above that of `span`, shapes do not match, or a row of `p` is not a
        distribution.
    """
    p = np.atleast_2d(np.asarray(p, np.float64))
    p = distributions(p, p.shape[1])
    least = 1 if start is None else max(1, start.shape[1])
    if rank < least:
        raise ValueError(f"rank {rank} must be at least {least}")
    basis = None if span is None else whitened(np.asarray(span, np.float64), p.mean(axis=0))
    if basis is not None and rank > basis.shape[1]:
        raise ValueError(f"rank {rank} must be at most {basis.shape[1]}, the rank of the span")
    if rank >= p.shape[1] - 1:
        weights = np.eye(p.shape[1])[:, :rank]
        nearest = project(weights, p)
        return BestHead(weights, nearest.forced, nearest.gap)
    large = basis is None and bool(rounds) and rank < COMMON and p.shape[1] > LARGE and common_mass(p, COMMON) >= MOST
    iterations, settled = (FINAL, FINAL_SETTLED) if large else (ITERATIONS, SETTLED)
    if large and start is None:
        fitted, hidden = _of_common(p, rank, rounds, step)
        value = np.inf
    else:
        fitted, nearest = _begun(p, rank, start, basis)
        hidden, value = nearest.hidden, nearest.forced.mean()
    for _ in range(rounds):
        before = value
        fitted, hidden, value = descend(p, fitted, hidden, iterations, step, sharp=large, span=basis)
        if value >= (1 - settled) * before:
            break
    if rounds:
        logits = hidden @ fitted.T
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        nearest = project(fitted, p, start=logits, tolerance=TOLERANCE)
    return BestHead(fitted, nearest.forced, nearest.gap)


def _begun(
    p: np.ndarray, rank: int, start: np.ndarray | None, basis: np.ndarray | None
) -> tuple[np.ndarray, Projection]:
    """Return the head (v, r) from a start or `leading`, in the span of a basis (v, k), and truths projected onto it."""

    def spanned(columns: np.ndarray) -> np.ndarray:
        return columns if basis is None else basis @ ((p.mean(axis=0)[:, None] * basis).T @ columns)

    weights = spanned(leading(p, rank) if start is None else np.asarray(start, np.float64))
    nearest = project(weights, p, tolerance=TOLERANCE)
    if rank > weights.shape[1]:
        weights = np.column_stack([weights, spanned(leading(p, rank - weights.shape[1], nearest.log_q))])
        nearest = project(weights, p, start=nearest.log_q, tolerance=TOLERANCE)
    return weights, nearest


def _of_common(p: np.ndarray, rank: int, rounds: int, step: Callable[[], object]) -> tuple[np.ndarray, np.ndarray]:
    """Return the head (v, r) and hidden vectors (n, r) that are fitted to common tokens, with rows for all."""
    order, few = divided(p, COMMON)
    best = best_head(few, rank, rounds=rounds, step=step)
    nearest = project(best.weights, few, tolerance=TOLERANCE)
    rare = rows_of(p[:, order[COMMON:]], best.weights[-1], nearest.hidden, nearest.log_q[:, -1])
    return np.concatenate([best.weights[:-1], rare])[np.argsort(order)], nearest.hidden


def leading(p: np.ndarray, rank: int, log_q: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the head (v, r) of the best approximation of rank r to log p - log q (n, v).

    Tokens are weighted by the truths' mean.
    """
    mean = p.mean(axis=0)
    scale = np.sqrt(mean + 1e-12 * mean.max())
    with np.errstate(divide="ignore"):
        missing = np.maximum(np.log(p), LOWEST) - log_q
    missing -= (missing @ mean)[:, None]
    columns = svd(missing * scale, full_matrices=False)[2][:rank].T / scale[:, None]
    further = np.argsort(-mean)[: max(0, rank - columns.shape[1])]  # where there are fewer truths than columns
    return np.column_stack([columns, np.eye(len(mean))[:, further]])


def bytes_needed(n: int, v: int, rank: int) -> int:
    """Return about how much memory `best_head` takes, in bytes: for truths, the steps that it keeps, and blocks."""
    return OVERHEAD + 8 * (6 * n * v + (2 * KEPT + 8) * (n + v) * rank + 3 * min((n + v) * rank * rank, BLOCKS))
