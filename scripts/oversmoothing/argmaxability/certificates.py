"""Turn what a search proposes into certificates of classes; only what `proofs` proves is recorded."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from oversmoothing.argmaxability.coordinates import Coordinates
from oversmoothing.argmaxability.cushion import Cushion
from oversmoothing.argmaxability.equivalent import Equivalent
from oversmoothing.argmaxability.own_directions import leads
from oversmoothing.argmaxability.proofs import (
    ROWS,
    exact_combination,
    exact_gap,
    generators,
    longest_row,
    proven_combinations,
    proven_gaps,
)
from oversmoothing.argmaxability.result import ARGMAXABLE, UNARGMAXABLE, UNDECIDED, Argmaxability, Combination

DOUBLES = 2**25  # numbers in the witnesses of all classes up to which they are kept in float64
NUMBERS = 2**23  # in an array of logits, and
MATRICES = 2**20  # of square systems, so that blocks take some hundred megabytes at most
EXACT = 100**3  # equations times squared rows of a combination, the most that is solved in rational arithmetic
NOTICEABLE = 1e-9  # share in a combination that is not rounding
FAR = 10.0  # how many times as long as the shift that absorbs an affine bias a hidden vector becomes


class Certificates:
    """The certificates found so far for a head's classes: `result` is what is proven, `offset` the bias or zeros."""

    def __init__(self, weights: np.ndarray, bias: np.ndarray | None) -> None:
        v, d = weights.shape
        self.weights, self.bias = weights, bias
        self.offset = np.zeros(v) if bias is None else bias
        self._slack = 1.0  # what 1 of these logits is of the head's
        self._precision = np.float64 if v * d <= DOUBLES else np.float32
        self.result = Argmaxability(
            np.full(v, UNDECIDED, dtype="<U12"), np.full((v, d), np.nan, self._precision), np.full(v, np.nan), {}
        )

    @property
    def is_undecided(self) -> np.ndarray:
        """Whether each class is undecided, bool (v,)."""
        return self.result.status == UNDECIDED

    def blocks(self, n: int) -> Iterator[slice]:
        """Divide n hidden vectors so that the logits of a block fit in memory."""
        rows = len(self.weights) if self.bias is not None else min(len(self.weights), ROWS)
        size = max(1, NUMBERS // rows)
        return (slice(start, start + size) for start in range(0, n, size))

    def accept_witnesses(self, hidden: np.ndarray) -> None:
        """Record, for every class that provably leads at one of the hidden vectors, the one with the widest lead."""
        if self.bias is None:
            norms = np.linalg.norm(hidden, axis=1, keepdims=True)
            hidden = hidden / np.where(norms > 0, norms, 1.0)
        with np.errstate(over="ignore"):
            hidden = hidden.astype(self._precision).astype(np.float64)  # the proof is for what is kept
        classes, which, margin = self._widest(hidden)
        wider = margin > np.fmax(self.result.margin[classes], 0)
        self._record_witnesses(classes[wider], hidden[which[wider]], margin[wider])

    def accept_own_directions(self, coordinates: Coordinates) -> bool:
        """Record the classes that lead in the direction of their own row; return whether that can be told."""
        if coordinates.back is None or self.bias is not None:
            return False
        longest = 2 * longest_row(self.weights)  # the mean is no longer than a row
        for classes, hidden, lead in leads(coordinates.rows[:, 1:], coordinates.back, longest, self._precision):
            wider = lead > np.fmax(self.result.margin[classes], 0)
            self._record_witnesses(classes[wider], hidden[wider], lead[wider])
        return True

    def _widest(self, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the classes that provably lead somewhere, where each does so by the widest margin, and the margins."""
        leader, margin = proven_gaps(self.weights, self.bias, hidden)
        widest = np.full(len(self.weights), -1)
        order = np.argsort(margin)
        widest[leader[order]] = order  # for repeated indices the last value is kept
        classes = np.flatnonzero(widest >= 0)
        classes = classes[margin[widest[classes]] > 0]
        return classes, widest[classes], margin[widest[classes]]

    def _record_witnesses(self, classes: np.ndarray, hidden: np.ndarray, margin: np.ndarray) -> None:
        self.result.status[classes] = ARGMAXABLE
        self.result.hidden[classes], self.result.margin[classes] = hidden, margin
        for i in classes.tolist():
            self.result.rest.pop(i, None)

    def adopt(self, other: Argmaxability) -> None:
        """Take over what another search for the same head proved of classes that are undecided here."""
        own, new = self.result, self.is_undecided & (other.status != UNDECIDED)
        own.status[new], own.hidden[new], own.margin[new] = other.status[new], other.hidden[new], other.margin[new]
        own.combination.update({i: found for i, found in other.combination.items() if new[i]})
        own.rest.update({i: found for i, found in other.rest.items() if new[i]})

    def accept_equal_rows(self) -> None:
        """Record that, of classes with equal rows, only one can lead, and only if its bias is above all others'."""
        groups = defaultdict(list)
        for i, row in enumerate(self.weights):
            groups[hashlib.blake2b((row + 0.0).tobytes(), digest_size=16).digest()].append(i)  # -0.0 equals 0.0
        for group in groups.values():
            first, *others = sorted(group, key=lambda i: -self.offset[i])
            for i in others:
                if (self.weights[i] == self.weights[first]).all():
                    self._record(i, first)
                    if self.offset[i] == self.offset[first]:
                        self._record(first, i)

    def _record(self, i: int, twin: int) -> None:
        """Record that class i is unargmaxable because of one with an equal row and no lower bias."""
        slack = float(self.offset[twin] - self.offset[i])
        rows = [twin, len(self.weights)] if slack else [twin]
        self.result.status[i] = UNARGMAXABLE
        self.result.combination[i] = Combination(np.array(rows), np.array([1.0, slack][: len(rows)]))

    def accept_combinations(self, classes: np.ndarray, supports: np.ndarray) -> None:
        """Record the combinations proven by interval arithmetic: `supports`, (c, m), with as many rows as equations."""
        equations = self._equations
        square = (supports >= 0).sum(axis=1) == equations
        square &= self.result.status[classes] == UNDECIDED
        classes, supports = classes[square], supports[square, :equations]
        size = max(1, MATRICES // equations**2)
        for start in range(0, len(classes), size):
            block = slice(start, start + size)
            proven, shares = proven_combinations(self.weights, self.bias, classes[block], supports[block])
            for i, rows, share in zip(classes[block][proven], supports[block][proven], shares[proven], strict=True):
                self.result.status[i] = UNARGMAXABLE
                of_head = np.where(rows < len(self.weights), share, share * self._slack)
                self.result.combination[int(i)] = Combination(rows.astype(np.int32), of_head)

    def accept_spread(self, classes: np.ndarray, cushion: Cushion, rows: np.ndarray, shares: np.ndarray) -> None:
        """Record the combinations that a cushion proves: shares (c, n) of `rows` (n,), more than there are equations.

        The cushion's rows are the first, and none is one of `classes` (c,).
        """
        of_rows, targets = (generators(self.weights, self.bias, those) for those in (rows, classes))
        proven, shares = cushion.proven(of_rows, targets, shares)
        for i, share in zip(classes[proven].tolist(), shares[proven], strict=True):
            self.result.status[i] = UNARGMAXABLE
            self.result.combination[i] = Combination(rows, share)

    @property
    def _equations(self) -> int:
        return self.weights.shape[1] + 1 + (self.bias is not None)

    def settle_exactly(self, classes: np.ndarray, hidden: np.ndarray, supports: np.ndarray) -> None:
        """Decide in rational arithmetic what interval arithmetic leaves open, such as ties, if it takes no minutes."""
        weights, bias, result = self.weights, self.bias, self.result
        for i, h, padded in zip(classes.tolist(), hidden, supports, strict=True):
            if result.status[i] != UNDECIDED or not (padded >= 0).any():
                continue
            support = padded[padded >= 0]
            exact = self._exact_shares(i, support)
            if exact is not None:
                result.status[i] = UNARGMAXABLE
                shares = np.array([float(value) for value in exact.values()])
                result.combination[i] = Combination(np.array([*exact]), shares)
                continue
            h = h.astype(self._precision).astype(np.float64)
            if np.isfinite(h).all() and (gap := exact_gap(weights, bias, i, h)) > 0:
                result.status[i], result.hidden[i] = ARGMAXABLE, h
                result.margin[i] = np.nextafter(float(gap), 0)  # float() may have rounded up

    def _exact_shares(self, i: int, support: np.ndarray) -> dict[int, Fraction] | None:
        """Return the exact shares of the support's rows in row i, if they are positive and the effort is bearable."""
        rows = generators(self.weights, self.bias, support)
        shares = np.linalg.lstsq(rows.T, generators(self.weights, self.bias, [i])[0])[0]
        for some in (support[shares > NOTICEABLE], support):  # first without those present only by rounding
            if len(some) ** 2 * self._equations <= EXACT:
                exact = exact_combination(self.weights, self.bias, i, some.tolist())
                if exact is not None:
                    return exact
        return None


class CertificatesByEquivalent(Certificates):
    """The same, for what a search in an equivalent head proposes; what is proven is recorded in the head's own."""

    def __init__(self, certificates: Certificates, equivalent: Equivalent) -> None:
        self.weights, self.bias = equivalent.weights, equivalent.bias
        self.offset = np.zeros(len(self.weights)) if self.bias is None else self.bias
        self.result, self._slack, self._precision = certificates.result, equivalent.unit, certificates._precision
        self._head, self._equivalent = certificates, equivalent

    def accept_witnesses(self, hidden: np.ndarray) -> None:
        """Record the hidden vectors of the head that correspond to these, if need be with a rest."""
        if self.bias is None:
            hidden = self._rescaled(hidden)
        classes, which, margin = self._widest(hidden)
        margin = margin * self._slack
        wider = margin > np.fmax(self.result.margin[classes], 0)
        classes, hidden, margin = classes[wider], hidden[which[wider]], margin[wider]
        if not len(classes):
            return
        mapped, rest, error = self._equivalent.to_head_exactly(hidden, self._precision)
        self._head.accept_witnesses(mapped.astype(np.float64))  # in most cases the rest is not needed
        margin -= 2.02 * error @ np.abs(self._head.weights).max(axis=0)
        margin *= 1 - NOTICEABLE
        needed = margin > np.fmax(self.result.margin[classes], 0)
        self._record_witnesses(classes[needed], mapped[needed], margin[needed])
        self.result.rest.update(zip(classes[needed].tolist(), rest[needed], strict=True))

    def accept_own_directions(self, coordinates: Coordinates) -> bool:
        """Record nothing: a lead in the equivalent head proves none in the head."""
        return False

    def settle_exactly(self, classes: np.ndarray, hidden: np.ndarray, supports: np.ndarray) -> None:
        """Decide in rational arithmetic with the head itself, whose exact weights these are not."""
        self._head.settle_exactly(classes, self._equivalent.to_head(hidden), supports)

    def _rescaled(self, hidden: np.ndarray) -> np.ndarray:
        """Bring hidden vectors to length 1 in the head, or far beyond the shift that makes an affine bias constant."""
        start = self._equivalent.to_head(np.zeros((1, hidden.shape[1])))
        length = np.linalg.norm(self._equivalent.to_head(hidden) - start, axis=1, keepdims=True)
        shift = np.linalg.norm(start)
        return hidden / np.where(length > 0, length, 1.0) * (1.0 if self._head.bias is None else FAR * (1 + shift))
