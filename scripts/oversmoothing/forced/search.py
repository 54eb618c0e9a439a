"""How far to step along a direction of a family, from a point q towards the least divergence from a truth.

A token of no probability does not limit a step: where the truth is near a face of the polytope of the head's rows, the
minimum takes some tokens thousands of nats down. Overflow and the search itself are the limits: sums are those of
q exp(s c) in logarithms, with the relative changes c, and a step ends where its slope has nearly vanished.
"""

import numpy as np

LONGEST, FARTHEST = 20.0, 1e5  # nats by which a step changes the log-probability of a token, and of a faint one
FAINT = -69.0  # log-probability up to which a token is faint
HIGHEST = 600.0  # log-probability that a trial counts, so that nothing overflows
SLOPE = 0.1  # of the slope at which a step begins, up to which it may end
TRIALS = 60
QUADRATIC = 1e-3  # relative change of every probability below which a step needs no search
ROUNDING = 2.0**-52


def lengths(log_q: np.ndarray, change: np.ndarray, decrement: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths (n,) of steps that end near the lowest point of their line, 0 where none is lower; the falls.

    `change` (n, v), (u_i - m)^T direction, is the relative change of q_i, and `decrement` (n,) the product of gradient
    and direction. Where no probability changes by more than the share `QUADRATIC`, the whole step lowers the
    divergence, by about half the decrement, too little to be measured; there the fall is given as 0.
    """
    size = abs(change)
    limits = np.where(log_q > FAINT, size, size * (LONGEST / FARTHEST)).max(axis=1)
    most = LONGEST / np.maximum(limits, 1e-300)
    length, fall = np.minimum(1, most), np.zeros(len(change))
    low, high = fall.copy(), np.full(len(change), np.inf)
    left = np.flatnonzero(size.max(axis=1) > QUADRATIC)
    for _ in range(TRIALS):
        s, c, d = length[left], change[left], decrement[left]
        step, q = s[:, None] * c, np.exp(log_q[left])
        grown = np.exp(np.minimum(log_q[left] + step, HIGHEST)) - q
        grown = np.where(step > 1, grown, q * np.expm1(np.minimum(step, 1)))
        total = grown.sum(axis=1)
        slope = np.einsum("ij,ij->i", grown, c) / (1 + total) - d
        fall[left] = s * d - np.log1p(total)
        low[left], high[left] = np.where(slope <= 0, s, low[left]), np.where(slope <= 0, high[left], s)
        near = (slope <= SLOPE * d) & ((slope >= -SLOPE * d) | (s >= most[left]))
        left = left[~(near & (fall[left] >= 1e-4 * s * d - ROUNDING))]
        if not len(left):
            break
        middle = np.where(np.isinf(high), np.minimum(4 * low, most), (low + high) / 2)[left]
        length[left] = np.where(low[left] > 0, middle, high[left] / 4)
    length[left], fall[left] = low[left], 0
    return length, fall
