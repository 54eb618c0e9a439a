"""Exact solution of linear systems, with floats as fractions and fractions over one denominator as integers."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

Number = int | float | Fraction


def solve_exactly(matrix: Sequence[Sequence[Number]], target: Sequence[Number]) -> list[Fraction] | None:
    """Solve a linear system in rational arithmetic, by fraction-free elimination.

    `matrix` has m rows of k numbers and `target` m numbers, floats as they stand (of NumPy: ``array.tolist()``). The
    result is None if the columns are linearly dependent or the target is not in their span. (E. H. Bareiss,
    "Sylvester's identity and multistep integer-preserving Gaussian elimination", Mathematics of Computation 1968.)
    """
    # Rows and target have separate denominators, since a common one would make the integers longer.
    scales = [_denominator(row) for row in matrix]
    right = [Fraction(value) * scale for value, scale in zip(target, scales, strict=True)]
    common = _denominator(right)
    system = np.array(
        [
            [*(int(Fraction(value) * scale) for value in row), int(value * common)]
            for row, scale, value in zip(matrix, scales, right, strict=True)
        ],
        dtype=object,
    )
    k = system.shape[1] - 1
    previous = 1
    for c in range(k):
        pivot = next((r for r in range(c, len(system)) if system[r, c]), None)
        if pivot is None:
            return None
        system[[c, pivot]] = system[[pivot, c]]
        below = system[c + 1 :, c:]
        system[c + 1 :, c:] = (below * system[c, c] - np.outer(below[:, 0], system[c, c:])) // previous
        previous = system[c, c]
    if any(system[k:, k]):
        return None
    solution: list[Fraction] = []
    for r in range(k - 1, -1, -1):
        known = sum((a * x for a, x in zip(system[r, r + 1 : k], reversed(solution), strict=True)), Fraction(0))
        solution.append((system[r, k] - known) / system[r, r])
    return [value / common for value in reversed(solution)]


def _denominator(values: Iterable[Number]) -> int:
    return math.lcm(*(Fraction(value).denominator for value in values))
