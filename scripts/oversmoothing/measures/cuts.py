"""Cuts of a model's distributions: what they keep of a truth's nucleus, and what they leak."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from oversmoothing.bat.basis import Basis
from oversmoothing.bat.reject import reject_set
from oversmoothing.scores.catalogue.decoders import method
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.scores.probabilities import softmax

FIRST, LAST = ("temperature first", "cut first")
ENDS = ("greedy", "pure")  # what every method becomes if it cuts as much, or as little, as it can
ORACLE, HINDSIGHT, BAT = "oracle", "hindsight", "bat"
MASS_TOLERANCE = 1e-6
MEASURES = ("leak", "kept", "reach", "impossible", "size")
LENGTHS = 40  # of the beginnings of a model's order that are tried, from one token to all of them
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # of leak against what is kept


class Cut(NamedTuple):
    """A method and the value of its parameter, NaN if it has none."""

    method: str
    parameter: float

    def keep(self, q: np.ndarray) -> np.ndarray:
        """Tokens that it leaves of distributions `q` (n, v), bool (n, v)."""
        values = {of.key: int(self.parameter) if of.whole else self.parameter for of in method(self.method).parameters}
        kept: np.ndarray = decoder({"name": self.method, **values})(q) > 0
        return kept


def cuts(methods: Mapping[str, Sequence[float]]) -> list[Cut]:
    """Cuts of a config: each method with each of its values, and `ENDS`."""
    values = {name: tried or [float("nan")] for name, tried in methods.items()}
    return [*(Cut(name, float("nan")) for name in ENDS), *(Cut(name, x) for name in values for x in values[name])]


def of_bat(basis: Basis, q: np.ndarray, deltas: Iterable[float]) -> Iterator[tuple[Cut, np.ndarray]]:
    """Yield the cuts of BAT, and what they leave of `q` (n, v): the first token, and all not proved to be rejected."""
    first = np.arange(q.shape[1]) == q.argmax(axis=1)[:, None]
    for delta in deltas:
        rejected: Any = reject_set(basis, q.astype(np.float64), delta, MASS_TOLERANCE).rejected
        yield Cut(BAT, delta), ~rejected | first


class Plane:
    """Distributions of a truth, from logits (n, v), with the nucleus that holds `tau` of each."""

    def __init__(self, logits: np.ndarray, tau: float) -> None:
        self.p = p = softmax(logits)
        self.inside = nucleus(p, tau)
        self.within = np.where(self.inside, p, 0)
        self.outside = ~self.inside
        self.impossible = np.isneginf(logits)  # and not what is rounded to 0
        self.mass = self.within.sum(axis=1)

    def measures(self, q: np.ndarray, keep: np.ndarray) -> dict[str, np.ndarray]:
        r"""Measures (n,) of distributions `q` (n, v) that are cut to the tokens of `keep`, bool (n, v), and rescaled.

        With q' the result, p the truth and N its nucleus: ``leak``, TTO, is :math:`\sum_{i \notin N} \max(0, q'_i -
        p_i)`; ``kept`` is :math:`\sum_{i \in N} \min(p_i, q'_i)`; ``reach``, the share of N that can be drawn at all;
        ``impossible``, the mass of q' on impossible tokens; and ``size``, the number of tokens left.
        """
        left = np.where(keep, q, 0)
        left /= left.sum(axis=1, keepdims=True)
        return {
            "leak": np.maximum(left - self.p, 0).sum(axis=1, where=self.outside),
            "kept": np.minimum(left, self.within).sum(axis=1),
            "reach": self.within.sum(axis=1, where=keep) / self.mass,
            "impossible": left.sum(axis=1, where=self.impossible),
            "size": keep.sum(axis=1),
        }


def in_hindsight(plane: Plane, q: np.ndarray, place: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Yield weights, and the best cut of each distribution `q` (n, v) if the truth were known and leak weighed so much.

    `place` (n, v) is that of each token in the order of the model, from 0. A cut keeps the first tokens of this order,
    as every threshold does; the best one maximises ``kept`` less the weight times ``leak``.
    """
    lengths = tried(q.shape[1])
    found = [plane.measures(q, place < length) for length in lengths]
    kept, leak = (np.stack([of[name] for of in found]) for name in ("kept", "leak"))
    for weight in WEIGHTS:
        yield weight, place < lengths[np.argmax(kept - weight * leak, axis=0)][:, None]


def tried(v: int) -> np.ndarray:
    """Lengths of a beginning of v tokens, in about equal ratios."""
    return np.unique(np.round(np.geomspace(1, v, LENGTHS)).astype(int))


def places(q: np.ndarray) -> np.ndarray:
    """Place of each token in the order of decreasing probability, ties by id; int (n, v)."""
    order = np.argsort(-q, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(q.shape[1]), q.shape), axis=1)
    return place


def measured(
    planes: Mapping[str, Plane], q: np.ndarray, basis: Basis | None, settings: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any], dict[str, np.ndarray]]]:
    """Yield a truth, a cut at a temperature, and its measures (n,) of distributions `q` (n, v)."""
    tempered = {t: temperature(q, t) for t in settings["temperatures"]}
    for (cut, t, order), keep in kept_tokens(q, tempered, basis, settings):
        for truth, plane in planes.items():
            yield truth, _named(cut, t, order), plane.measures(tempered[t], keep)
    place = places(q)
    for t, flatter in tempered.items():
        for truth, plane in planes.items():
            yield truth, _named(Cut(ORACLE, np.nan), t, FIRST), plane.measures(flatter, plane.inside)
            for weight, keep in in_hindsight(plane, flatter, place):
                yield truth, _named(Cut(HINDSIGHT, weight), t, FIRST), plane.measures(flatter, keep)


def kept_tokens(
    q: np.ndarray, tempered: Mapping[float, np.ndarray], basis: Basis | None, settings: Mapping[str, Any]
) -> Iterator[tuple[tuple[Cut, float, str], np.ndarray]]:
    """Yield each cut with a temperature and an order, and what it leaves; at temperature 1 both orders are one."""
    for cut in cuts(settings["methods"]):
        at_once = cut.keep(q) if set(tempered) != {1} else None
        for t, flatter in tempered.items():
            yield (cut, t, FIRST), cut.keep(flatter)
            if t != 1 and at_once is not None:
                yield (cut, t, LAST), at_once
    # BAT cuts first, for what it supposes of the truth is about the model as it is.
    for cut, keep in of_bat(basis, q, settings["deltas"]) if basis else ():
        for t in tempered:
            yield (cut, t, FIRST if t == 1 else LAST), keep


def _named(cut: Cut, t: float, order: str) -> dict[str, Any]:
    return {"temperature": t, "order": order, "method": cut.method, "parameter": cut.parameter}
