"""All open tokens of a working set at once: accelerated projection between the box and the constraints.

For each open token i, the point of the box is sought that is nearest, in the metric of `lewis`, to the plane
{A z = 0, z_i = -1}, by projected gradient steps with momentum and restarts (Beck and Teboulle 2009; O'Donoghue and
Candes 2015). A step for all tokens is two products of matrices, in float32. If the projection onto the plane lies in
the box, it proves that i is rejected; if the two do not meet, the vector between them separates them and proves that i
is accepted. Both are only proposals, which `WorkingSet.reject` and `WorkingSet.accept` check.

A token that the working set leaves open often needs tokens outside it. To search among these too, a metric in float32
is enough, which takes a tenth of the time of one that bounds its errors: the set's own metric, corrected for the
columns that are added. Only tokens of the set itself are decided, and by its own proofs.
"""

from types import SimpleNamespace

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.blas import ssyrk

from oversmoothing.bat.large.position import OPEN, TINY_32, WorkingSet

WIDTH = 512  # tokens at once
EVERY = 5  # steps between the tests for acceptance, which cost a product with the whole basis
LESS = 0.8  # share of what the tail last added to a fall, by which a token is not tried before it would be accepted
SHRINK = 0.01  # the steps aim this share inside the box, so that they arrive in finitely many
ALONE = 0.9999  # from this share on, the others cannot replace a token
LIGHTEST = 1e-30  # weight below which float32 holds no direction

Best = dict[int, tuple[float, np.ndarray]]


class WidenedSet:
    """A working set and tokens of its tail, with what `projection` needs of a `WorkingSet`; places are of all."""

    def __init__(self, base: WorkingSet, added: np.ndarray) -> None:
        """Begin with a working set whose metric is complete; a `LinAlgError` if float32 has too few digits."""
        self.base, self.position, self.added = base, base.position, added
        self.tokens = np.concatenate([base.tokens, added])
        rows = self.position.p[added, None] * self.position.constraints.rows(added)
        factor = base.metric.factor.astype(np.float32)
        more = solve_triangular(factor, rows.T.astype(np.float32), lower=True, check_finite=False)
        columns = np.concatenate([base.metric.whitened.astype(np.float32), more], axis=1)
        lengths = np.maximum(np.linalg.norm(more, axis=0), np.finfo(np.float32).tiny)
        weights = np.concatenate([base.metric.weights, lengths]).astype(np.float32)
        gram = ssyrk(1.0, np.asfortranarray(columns / np.sqrt(weights)), lower=1)
        self.correction = cholesky(gram, lower=True, overwrite_a=True, check_finite=True)
        whitened = solve_triangular(self.correction, columns, lower=True, check_finite=False)
        shares = np.minimum(np.einsum("ij,ij->j", whitened, whitened) / weights, 1)
        self.metric = SimpleNamespace(whitened=whitened, weights=weights, shares=shares)  # without bounds of errors

    def propose(self, places: np.ndarray, z: np.ndarray) -> None:
        """Reject the `places` that columns z (k, n) of a search prove rejected, once the set has mended them."""
        z = z.astype(np.float64)
        own, moved = np.split(z, [len(self.base.tokens)])
        pull = self.base.pull(self.added, moved)
        self.base.reject(places, self.base.project(places, own, pull), self.added, moved, pull)

    def accept(self, places: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the upper bounds (n,) of `WorkingSet.accept` at `places`, from y (r, n) of this metric."""
        return self.base.accept(places, self.of_base(y))

    def of_base(self, y: np.ndarray) -> np.ndarray:
        """Return y (r, n) or (r,) of this metric in that of the set."""
        return solve_triangular(self.correction.astype(np.float64), y, lower=True, trans=1, check_finite=False)

    def fall(self, t: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what `WorkingSet.fall` returns, over all tokens of this one."""
        return self.base.fall(t, places)


def project(working: WorkingSet | WidenedSet, places: np.ndarray, steps: int, tolerance: float) -> Best:
    """Decide what a number of steps can decide of the tokens at `places`, until the open ones have little mass.

    Return, for tokens that are still open, by id: the lowest bound of their fall and the whitened y that gives it.
    """
    places = places[(working.metric.shares[places] < ALONE) & (working.metric.weights[places] > LIGHTEST)]
    best: Best = {}
    for start in range(0, len(places), WIDTH):
        if working.position.mass(OPEN) <= tolerance:
            break
        best |= _project(working, places[start : start + WIDTH], steps, tolerance)
    return {token: lowest for token, lowest in best.items() if working.position.status[token] == OPEN}


def _project(working: WorkingSet | WidenedSet, left: np.ndarray, steps: int, tolerance: float) -> Best:
    metric, rise = working.metric, np.float32(working.position.rise)
    whitened = metric.whitened.astype(np.float32)
    weights = np.maximum(metric.weights, TINY_32).astype(np.float32)[:, None]
    left_over = (1 - metric.shares).astype(np.float32)
    lowest, highest = np.float32(SHRINK - 1), np.float32(rise * (1 - SHRINK))
    nearest = np.zeros((len(weights), len(left)), np.float32)
    ahead, pace = nearest.copy(), np.ones(len(left), np.float32)
    tried, beyond = np.full(len(left), np.inf), np.zeros(len(left))
    best: Best = {}
    for step in range(1, steps + 1):
        fixed = left, np.arange(len(left))
        ahead[fixed] = -1
        missing = -(whitened @ ahead)
        mine = whitened[:, left] / weights[left, 0]
        y = missing + whitened[:, left] * (np.einsum("ij,ij->j", mine, missing) / left_over[left])
        moves = whitened.T @ y
        z = moves / weights
        on_plane = ahead + z
        on_plane[fixed] = -1
        feasible = np.flatnonzero((on_plane.max(axis=0) < rise * np.float32(0.999)) & (on_plane.min(axis=0) >= -1))
        if len(feasible):
            working.propose(left[feasible], on_plane[:, feasible])
        if step % EVERY == 0 or step == steps:
            inside, reach = working.fall(moves, left)
            with np.errstate(divide="ignore", invalid="ignore"):
                falls = np.where(reach > 0, inside / reach, np.inf)
            good = np.flatnonzero((falls < 1 - 1e-4) & (falls < tried - 0.02) & (falls + LESS * beyond < 1))
            if len(good):
                tried[good] = falls[good]
                bounds = working.accept(left[good], y[:, good].astype(np.float64))
                beyond[good] = np.where(np.isfinite(bounds), bounds - falls[good], 0.0)
                for n, bound in zip(good.tolist(), bounds.tolist(), strict=True):
                    token = int(working.tokens[left[n]])
                    if bound < best.get(token, (np.inf,))[0]:
                        best[token] = bound, y[:, n].astype(np.float64)
        new = np.clip(on_plane, lowest, highest)
        restart = np.einsum("ij,ij->j", (ahead - new) * weights, new - nearest) > 0
        faster = np.where(restart, 1, (1 + np.sqrt(1 + 4 * pace**2)) / 2).astype(np.float32)
        ahead = new + np.where(restart, 0, (pace - 1) / faster).astype(np.float32) * (new - nearest)
        nearest, pace = new, faster
        keep = working.position.status[working.tokens[left]] == OPEN
        if not keep.all():
            nearest, ahead, pace, left = nearest[:, keep], ahead[:, keep], pace[keep], left[keep]
            tried, beyond = tried[keep], beyond[keep]
        if not len(left) or working.position.mass(OPEN) <= tolerance:
            break
    return best
