"""What is proved of one distribution, and the only functions that decide a token.

With z_j = q_j / p_j - 1, token i is rejected if some z in the box [-1, E - 1] has z_i = -1 and sum_j a_j z_j = 0, where
a_j = p_j u_j and u_j is token j's row of the basis. Any such z is a proof, and so, for the opposite, is any y with

    sum over j != i of max((E - 1) t_j, -t_j) < t_i,      t_j = p_j u_j^T y :

the constraints give t_i z_i = -sum_j t_j z_j, which then stays above -t_i, so z_i > -1. It does not matter how z and y
were found: in float32, among few tokens, or by guessing. Here each is checked in float64, with a bound of every
rounding error (`rounding`), against the basis as it is stored. What each check assumes of tokens outside the working
set:

`reject_twins`
    Nothing: mass moves between equal rows only.
`reject` without any of them, `reject_bulk`
    Nothing. They stay at z_j = 0, which is in the box and adds nothing to the constraints. On the working set all
    constraints hold once those of the metric do, since the others follow from them there.
`reject_slices`, and `reject` with some of them
    They move, so all m constraints have to be checked, and mended by the working set where rounding breaks them. A
    metric that describes fewer, because on the working set the others follow, does not see what tokens outside miss of
    the others: these two prove nothing unless the metric is complete.
`accept`
    Nothing. y is a combination of the constraints whatever the working set, and the sum is over all tokens, from the
    basis and p themselves.

A z has to keep the distance `MARGIN` from the ends of the box, and besides what a correction moves it by that repairs
what it misses of the constraints (`Metric.repair`). The sum of a y has to stay below t_i by the same share.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from oversmoothing.bat.large.constraints import Constraints
from oversmoothing.bat.large.lewis import Metric, lewis_metric
from oversmoothing.bat.large.rounding import BLOCK, gamma, in_blocks

OPEN, REJECTED, ACCEPTED = 0, 1, 2
MARGIN = 1e-6  # distance that every proof keeps, far above the rounding of float64
NOISE_32 = 2.0**-24  # of one operation in float32
RAREST = 1e-100  # below this the squares of a token's column underflow, so it never joins the working set
TINY_32 = 2.0**-126  # smallest normal number of float32
NOTHING = np.zeros(0, int)  # no tokens


@dataclass
class Position:
    """One distribution and what is proved of it so far.

    `witnesses` holds, for the tokens whose proof is to be kept, z (v,), which is -1 at the token, or y, a combination
    of the basis's columns; None until then, or if none is needed.
    """

    constraints: Constraints
    p: np.ndarray  # (v,)
    rise: float  # E - 1, the most that a z may be
    status: np.ndarray  # OPEN, REJECTED or ACCEPTED, int8 (v,)
    witnesses: dict[int, np.ndarray | None] = field(default_factory=dict)

    @property
    def most(self) -> float:
        """Largest size of an entry of z."""
        return max(1.0, self.rise)

    def mass(self, status: int) -> float:
        """Return the probability of the tokens in a state."""
        return float(self.p[self.status == status].sum())

    def room(self, z: np.ndarray) -> np.ndarray:
        """Return the distance (n,) of columns z (k, n) from the nearer end of the box, less the margin.

        It is negative outside the box.
        """
        return np.minimum(self.rise * (1 - MARGIN) - z.max(axis=0), z.min(axis=0) + (1 - MARGIN))

    def decide(self, tokens: np.ndarray, status: int) -> None:
        """Record a decision that is proved."""
        self.status[tokens[self.status[tokens] == OPEN]] = status

    def reject_twins(self) -> None:
        """Reject each token whose twins, with rows equal to its own, can take its mass: no constraint notices."""
        twins = self.constraints.twins
        if twins is None:
            return
        total = np.bincount(twins, self.p, len(self.p))[twins]
        others = total * (1 - gamma(len(self.p))) - self.p  # at least what they have
        proved = (others > 0) & (self.p <= self.rise * (1 - MARGIN) * others)
        self.decide(np.flatnonzero(proved), REJECTED)
        for token in self.witnesses.keys() & set(np.flatnonzero(proved & (self.p > 0)).tolist()):
            z = np.where(twins == twins[token], self.p[token] / others[token], 0.0)
            z[token] = -1.0
            self.keep(token, z)

    def keep(self, token: int, witness: np.ndarray) -> None:
        """Keep the proof of a decision just taken."""
        if self.witnesses[token] is None:
            self.witnesses[token] = witness


class WorkingSet:
    """Tokens that may move, and the metric of their columns. The others, the tail, stay, or move in slices."""

    def __init__(self, position: Position, tokens: np.ndarray, steps: int, start: np.ndarray | None = None) -> None:
        self.position, self.tokens = position, tokens
        columns = (position.p[tokens, None] * position.constraints.rows(tokens)).T
        self.metric: Metric = lewis_metric(columns, steps, start, position.constraints.error)
        self.p = position.p[tokens]
        others = np.ones(len(position.p), bool)
        others[tokens] = False
        self.tail = np.flatnonzero(others & (position.p > 0))
        self.sizes = position.p * position.constraints.norms

    @property
    def open(self) -> np.ndarray:
        """Places of the open tokens."""
        return np.flatnonzero(self.position.status[self.tokens] == OPEN)

    def propose(self, places: np.ndarray, z: np.ndarray) -> None:
        """Reject the `places` that columns z (k, n) of a search prove rejected, as they are or projected in float64."""
        left = ~self.reject(places, z := z.astype(np.float64))
        if left.any():
            self.reject(places[left], self.project(places[left], z[:, left]))

    def project(self, places: np.ndarray, z: np.ndarray, pull: np.ndarray | float = 0.0) -> np.ndarray:
        """Project columns z (k, n) onto B z + pull = 0 with -1 at the `places`, in this metric."""
        metric, fixed = self.metric, (places, np.arange(len(places)))
        z[fixed] = -1.0
        missing = -(metric.whitened @ z + pull)
        mine = metric.whitened[:, places]
        spare = metric.weights[places] * (1 - metric.shares[places])
        y = missing + mine * (np.einsum("ij,ij->j", mine, missing) / spare)
        z += (metric.whitened.T @ y) / metric.weights[:, None]
        return z

    def reject(
        self,
        places: np.ndarray,
        z: np.ndarray,
        tail: np.ndarray = NOTHING,
        moved: np.ndarray | None = None,
        pull: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return whether z (k, n) on this set and `moved` (t, n) on tokens `tail` (t,) prove the `places` rejected.

        Each z is -1 at its own place. `pull` (r, n) is `self.pull(tail, moved)`; tokens in neither stay.
        """
        position, metric, fixed = self.position, self.metric, (places, np.arange(len(places)))
        if not metric.complete and len(tail):
            return np.zeros(len(places), bool)
        moved = z[:0] if moved is None else moved
        pull = np.zeros((len(metric.rows), len(places))) if pull is None else pull
        z[fixed] = 0.0
        room = position.room(np.concatenate([z, moved]))
        z[fixed] = -1.0
        error = self.pull_error(in_blocks(len(tail)), self.sizes[tail] @ abs(moved), pull)
        proved = metric.repair(metric.residuals(z, pull) + error, metric.shares[places]) <= room
        position.decide(self.tokens[places[proved]], REJECTED)
        for n in np.flatnonzero(proved & np.isin(self.tokens[places], list(position.witnesses))):
            position.keep(int(self.tokens[places[n]]), self.everywhere(z[:, n], tail, moved[:, n]))
        return proved

    def reject_slices(self, slices: list[np.ndarray], sums: np.ndarray) -> np.ndarray:
        """Try to zero whole slices of the tail, each with its own compensation by this set (n,).

        `sums` (m, n) are those of their columns, in any order.
        """
        position, metric = self.position, self.metric
        if not metric.complete:
            return np.zeros(len(slices), bool)
        pull = metric.whiten(sums)
        z = (metric.whitened.T @ pull) / metric.weights[:, None]
        sizes = np.array([self.sizes[tokens].sum() for tokens in slices])
        residuals = metric.residuals(z, -pull) + self.pull_error(gamma(max(map(len, slices)) + 2), sizes, pull)
        proved = metric.repair(residuals, 0) <= position.room(z)
        for n in np.flatnonzero(proved):
            position.decide(slices[n], REJECTED)
            for token in set(slices[n].tolist()) & position.witnesses.keys():
                position.keep(token, self.everywhere(z[:, n], slices[n], -1.0))
        return proved

    def pull_error(self, rounding: float, sizes: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """Bound of the errors of whitened sums over tail tokens, `pull` (r, n), from the sizes of their terms (n,)."""
        summed = self.metric.spread * (rounding + self.position.constraints.error) * sizes
        return summed + self.metric.solving * np.linalg.norm(pull, axis=0)

    def reject_bulk(self) -> None:
        """Reject the tokens to which the theorem in `lewis` applies; its proof, with the errors of this metric.

        z misses (F^-1 A diag(1/w) B^T - I) b_i / (1 - s_i), in which B differs from F^-1 A, and what all tokens add.
        """
        position, metric = self.position, self.metric
        left = np.maximum(1 - metric.shares, 1e-300)
        largest = metric.ratio * metric.lengths / left
        residuals = metric.skew * metric.lengths / left + metric.blur.sum()
        proved = metric.repair(residuals, metric.shares) <= min(1.0, position.rise) * (1 - MARGIN) - largest
        position.decide(self.tokens[proved], REJECTED)
        for place in np.flatnonzero(proved & np.isin(self.tokens, list(position.witnesses))):
            z = metric.whitened.T @ metric.whitened[:, place] / (metric.weights * left[place])
            z[place] = -1.0
            position.keep(int(self.tokens[place]), self.everywhere(z))

    def accept(self, places: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return upper bounds (n,) of the fall of z_i at `places`, from whitened y (r, n).

        Those whose bound is below 1 are accepted.
        """
        position, metric = self.position, self.metric
        y = y / np.maximum(np.linalg.norm(y, axis=0), 1e-300)
        inside, t_i = self.fall(metric.whitened.T @ y, places)
        fall = np.full(len(places), np.inf)
        maybe = np.flatnonzero(inside < t_i)
        if not len(maybe):
            return fall
        raw = position.constraints.raise_(metric.lift(y[:, maybe]))
        raw /= np.linalg.norm(raw, axis=0)
        inside, t_i = self.fall(position.constraints.columns[self.tokens] @ raw * self.p[:, None], places[maybe])
        error = gamma(len(raw) + 4) + position.constraints.error
        inside += error * float(self.sizes.sum()) * position.most
        estimate, noise = self.tail_fall(raw, np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            fall[maybe] = np.where(t_i > 0, (inside + estimate + noise) / t_i, np.inf)
            close = (fall[maybe] >= 1 - MARGIN) & (inside + estimate - noise < t_i) & (len(self.tail) > 0)
            if close.any():
                fall[maybe[close]] = (inside[close] + self.tail_fall(raw[:, close], np.float64)[0]) / t_i[close]
        proved = fall[maybe] < 1 - MARGIN
        tokens = self.tokens[places[maybe[proved]]]
        position.decide(tokens, ACCEPTED)
        for n in np.flatnonzero(np.isin(tokens, list(position.witnesses))):
            position.keep(int(tokens[n]), raw[:, np.flatnonzero(proved)[n]])
        return fall

    def fall(self, t: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sum over j != i of max((E - 1) t_j, -t_j) on this set, and t_i; t (k, n) is overwritten."""
        n = np.arange(len(places))
        t_i = t[places, n].copy()
        t[places, n] = 0
        return self.position.rise * np.maximum(t, 0).sum(axis=0) - np.minimum(t, 0).sum(axis=0), t_i

    @cached_property
    def tail_rows(self) -> np.ndarray:
        """Rows of the basis of the tail, float32, which every `accept` reads."""
        rows = np.empty((len(self.tail), self.position.constraints.columns.shape[1]), np.float32)
        for start in range(0, len(self.tail), BLOCK):
            rows[start : start + BLOCK] = self.position.constraints.columns[self.tail[start : start + BLOCK]]
        return rows

    def tail_fall(self, y: np.ndarray, dtype: type) -> tuple[np.ndarray, float]:
        """Return the sum in `fall` over the tail, for unit y, and its error in float32.

        Each y combines the basis's columns.
        """
        total = np.zeros(y.shape[1])
        lowered: np.ndarray = y.astype(dtype)
        p: np.ndarray = self.position.p.astype(dtype)
        columns = self.position.constraints.columns
        for start in range(0, len(self.tail), BLOCK):
            tokens = self.tail[start : start + BLOCK]
            rows = self.tail_rows[start : start + BLOCK] if dtype is np.float32 else columns[tokens]
            t = rows @ lowered
            t *= p[tokens, None]
            total += self.position.rise * np.maximum(t, 0).sum(axis=0, dtype=np.float64)
            total -= np.minimum(t, 0).sum(axis=0, dtype=np.float64)
        underflow = 2 * TINY_32 * len(y) * len(self.tail)
        noise = (len(y) + 8) * NOISE_32 * float(self.sizes[self.tail].sum()) + underflow
        return total, noise * self.position.most

    def pull(self, tail: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """Return the whitened sum of a_j z_j over tokens `tail` (t,) of columns `moved` (t, n)."""
        total = np.zeros((self.position.constraints.m, moved.shape[1]))
        for start in range(0, len(tail), BLOCK):
            tokens = tail[start : start + BLOCK]
            total += self.position.constraints.rows(tokens).T @ (
                self.position.p[tokens, None] * moved[start : start + BLOCK]
            )
        return self.metric.whiten(total)

    def everywhere(self, z: np.ndarray, tail: np.ndarray = NOTHING, moved: np.ndarray | float = 0.0) -> np.ndarray:
        """Return z of every token of the vocabulary, from its values on this set and on tokens of the tail."""
        whole = np.zeros(len(self.position.p))
        whole[self.tokens] = z
        whole[tail] = moved
        return whole
