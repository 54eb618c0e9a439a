"""An interior-point method for one linear program over a box: min c z, A z = 0, -below <= z <= above."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from oversmoothing.bat.large.lewis import gram

RIDGE = 1e-13  # added to the normal equations, relative to their mean diagonal
SHARE = 0.99  # of the way to the nearest end of the box


class InteriorPoint:
    """Mehrotra's predictor and corrector (1992), from z = 0, which is feasible, as every later z (k,) is."""

    def __init__(self, columns: np.ndarray, cost: np.ndarray, below: np.ndarray, above: np.ndarray) -> None:
        """Begin with A (m, k), of rows of about the same size, c (k,), and the distances to the ends of the box (k,).

        `y`, (m,), holds the multipliers of the constraints.
        """
        self.columns, self.cost, self.below, self.above = columns, cost, below, above
        self.z, self.y = np.zeros(columns.shape[1]), np.zeros(len(columns))
        slack = np.sqrt(cost**2 / 4 + max(0.5 * abs(cost).mean(), 1e-12) ** 2)
        self.low, self.high = slack + cost / 2, slack - cost / 2

    @property
    def gap(self) -> float:
        """Most by which c z can still fall, once the multipliers are feasible."""
        return float(self.low @ (self.z + self.below) + self.high @ (self.above - self.z))

    def step(self) -> bool:
        """Take one step; False if the normal equations are singular."""
        down, up = self.z + self.below, self.above - self.z
        scale = 1 / (self.low / down + self.high / up)
        normal = gram(self.columns, scale)
        normal[np.diag_indices_from(normal)] += RIDGE * normal.trace() / len(normal)
        try:
            factor = cholesky(normal, lower=True, check_finite=False, overwrite_a=True)
        except LinAlgError:
            return False
        missing = -(self.columns @ self.z)
        dual = self.low - self.high - self.cost - self.columns.T @ self.y

        def direction(low: np.ndarray, high: np.ndarray) -> tuple:
            right = dual + low / down - high / up
            y = solve_triangular(factor, self.columns @ (scale * right) - missing, lower=True, check_finite=False)
            y = solve_triangular(factor, y, lower=True, trans=1, check_finite=False)
            z = scale * (right - self.columns.T @ y)
            low, high = (low - self.low * z) / down, (high + self.high * z) / up
            lengths = min(_room(down, z), _room(up, -z)), min(_room(self.low, low), _room(self.high, high))
            return y, z, low, high, *lengths

        mean = (self.low @ down + self.high @ up) / (2 * len(self.z))
        _, z, low, high, far, dual_far = direction(-self.low * down, -self.high * up)
        far, dual_far = min(1.0, far), min(1.0, dual_far)
        after = (self.low + dual_far * low) @ (down + far * z) + (self.high + dual_far * high) @ (up - far * z)
        aim = (after / (2 * len(self.z)) / mean) ** 3 * mean
        y, z, low, high, far, dual_far = direction(aim - self.low * down - low * z, aim - self.high * up + high * z)
        far, dual_far = min(1.0, SHARE * far), min(1.0, SHARE * dual_far)
        self.z = self.z + far * z
        self.y, self.low, self.high = self.y + dual_far * y, self.low + dual_far * low, self.high + dual_far * high
        return True


def _room(distances: np.ndarray, changes: np.ndarray) -> float:
    """How far a step can go until a distance vanishes."""
    falling = changes < 0
    return float((distances[falling] / -changes[falling]).min()) if falling.any() else np.inf
