"""The cuts that are compared: methods with values of their parameter, and the ends that all share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from oversmoothing.bat.basis import Basis
from oversmoothing.bat.reject import reject_set
from oversmoothing.scores.catalogue.decoders import method
from oversmoothing.scores.decoding import decoder

FIRST, LAST = ("temperature first", "cut first")
ENDS = ("greedy", "pure")  # what every method becomes if it cuts as much, or as little, as it can
ORACLE, HINDSIGHT, BAT = "oracle", "hindsight", "bat"
MASS_TOLERANCE = 1e-6


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
    """Yield the cuts of BAT, and the tokens that they leave of `q` (n, v): all that it does not prove to be rejected.

    The most probable token is always left.
    """
    first = np.arange(q.shape[1]) == q.argmax(axis=1)[:, None]
    for delta in deltas:
        rejected: Any = reject_set(basis, q.astype(np.float64), delta, MASS_TOLERANCE).rejected
        yield Cut(BAT, delta), ~rejected | first
