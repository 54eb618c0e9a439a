"""A working set with more tokens, only to search: what it finds is proved by the set that it widens.

A token that the working set leaves open often needs tokens outside it. To search among these too, a metric in float32
is enough, which takes a tenth of the time of one that bounds its errors: the set's own metric, corrected for the
columns that are added. Only tokens of the set itself are decided.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.blas import ssyrk

from oversmoothing.bat.large.position import WorkingSet


@dataclass(frozen=True)
class Sketch:
    """A metric as `lewis.Metric`, in float32 and without bounds of its errors."""

    whitened: np.ndarray
    weights: np.ndarray
    shares: np.ndarray


class WidenedSet:
    """A working set and tokens of its tail, with what `projection` needs of a `WorkingSet`; places are of all."""

    def __init__(self, base: WorkingSet, added: np.ndarray) -> None:
        """Begin with a working set whose metric is complete; a `LinAlgError` if float32 has too few digits."""
        self.base, self.position, self.added = base, base.position, added
        self.tokens = np.concatenate([base.tokens, added])
        rows = self.position.p[added, None] * self.position.constraints.of(added)
        factor = base.metric.factor.astype(np.float32)
        more = solve_triangular(factor, rows.T.astype(np.float32), lower=True, check_finite=False)
        columns = np.concatenate([base.metric.whitened.astype(np.float32), more], axis=1)
        lengths = np.maximum(np.linalg.norm(more, axis=0), np.finfo(np.float32).tiny)
        weights = np.concatenate([base.metric.weights, lengths]).astype(np.float32)
        gram = ssyrk(1.0, np.asfortranarray(columns / np.sqrt(weights)), lower=1)
        self.correction = cholesky(gram, lower=True, overwrite_a=True, check_finite=True)
        whitened = solve_triangular(self.correction, columns, lower=True, check_finite=False)
        shares = np.minimum(np.einsum("ij,ij->j", whitened, whitened) / weights, 1)
        self.metric = Sketch(whitened, weights, shares)

    def propose(self, places: np.ndarray, z: np.ndarray) -> None:
        """Reject the `places` that columns z (k, n) of a search prove rejected, once the set has mended them."""
        z = z.astype(np.float64)
        own, moved = np.split(z, [len(self.base.tokens)])
        pull = self.base.pull(self.added, moved)
        self.base.reject_with_tail(places, self.base.project(places, own, pull), self.added, moved, pull)

    def accept(self, places: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Upper bounds (n,) of the fall of z_i at `places`, as `WorkingSet.accept`, from y (r, n) of this metric."""
        return self.base.accept(places, self.of_base(y))

    def of_base(self, y: np.ndarray) -> np.ndarray:
        """Y (r, n) or (r,) of this metric in that of the set."""
        return solve_triangular(self.correction.astype(np.float64), y, lower=True, trans=1, check_finite=False)

    def fall(self, t: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `WorkingSet.fall`, over all tokens of this one."""
        return self.base.fall(t, places)
