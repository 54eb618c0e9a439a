"""Frontiers of decoding methods, from sums over windows: the area of every method, and what it gains over another."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from oversmoothing.measures.cuts import ENDS, FIRST, HINDSIGHT, LAST, MEASURES, ORACLE
from oversmoothing.numerics.statistics import LEVEL as TAIL
from oversmoothing.numerics.statistics import draw_windows, expanded, holm

LEAKS = {"leak": None, "impossible": "impossible"}  # what is held against what is kept, and its name in the record
AREA, KEPT = "area", "kept"  # of a method with settings, and of its one setting
BOUNDS = (ORACLE, HINDSIGHT)
KEYS = ["temperature", "order", "method", "parameter"]
Key = tuple[float, str, str]  # temperature, order, method


class Frontiers:
    """The frontiers of one model against one truth, from `measure.SUMS`, and what methods gain over the `reference`."""

    def __init__(self, sums: pd.DataFrame, reference: str, resamples: int, seed: int) -> None:
        sums = sums.assign(parameter=sums.parameter.fillna(-1))  # no parameter is negative
        windows = sums.window.nunique()
        self.settings = sums.drop_duplicates(KEYS)[KEYS].reset_index(drop=True)
        values = sums[list(MEASURES)].to_numpy().reshape(windows, len(self.settings), len(MEASURES))
        count = sums.n.to_numpy().reshape(windows, -1)[:, 0]
        self.n = int(count.sum())
        self.resampled = Resampled(values, count.astype(float), resamples, seed)
        self.reference = reference
        self.curves: dict[Key, list[int]] = {
            key: list(part.index) for key, part in self.settings.groupby(["temperature", "order", "method"], sort=False)
        }
        self.methods = [name for name in self.settings.method.unique() if name not in (*ENDS, *BOUNDS, reference)]
        self.pure = self.curves[1.0, FIRST, "pure"]

    def points(self) -> pd.DataFrame:
        """Return the settings, with the mean of each measure, and the interval of what is kept: ``low``, ``high``."""
        kept = self.resampled.drawn[..., MEASURES.index("kept")]
        low, high = np.quantile(kept, [TAIL, 1 - TAIL], axis=0) if len(kept) else (np.nan, np.nan)
        means = pd.DataFrame(self.resampled.means, columns=MEASURES)
        return pd.concat([self.settings, means], axis=1).assign(low=low, high=high)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of every area and gain."""
        with_zeros = self.resampled.means[..., MEASURES.index("impossible")].any()
        for leak in LEAKS if with_zeros else ["leak"]:
            for row in self._of_leak(leak):
                yield {**row, "leak": LEAKS[leak], "unit": "probability"}

    def _of_leak(self, leak: str) -> Iterator[dict[str, Any]]:
        for key in self.curves:
            # In hindsight leak is the least, and not the mass on impossible tokens.
            if key[2] not in ENDS and not (key[2] == HINDSIGHT and LEAKS[leak]):
                value = float(self._area(self.resampled.means, leak, key))
                yield {**_named(key), "measure": AREA, "value": value, "n": self.n}
        for temperature, order in dict.fromkeys(key[:2] for key in self.curves):
            rival = (temperature, order, self.reference)
            pairs = [((temperature, order, name), rival) for name in self.methods]
            yield from self._gains(leak, pairs, self.reference)
        for temperature in dict.fromkeys(key[0] for key in self.curves):
            names = [name for name in (*self.methods, self.reference) if self._has_area((temperature, FIRST, name))]
            pairs = [((temperature, LAST, name), (temperature, FIRST, name)) for name in names]
            yield from self._gains(leak, pairs, FIRST)

    def _has_area(self, key: Key) -> bool:
        """Whether a method has several settings, between which there is an area."""
        return len(self.curves.get(key, ())) > 1

    def _plane(self, values: np.ndarray, leak: str, key: Key) -> tuple[np.ndarray, np.ndarray]:
        """Leaks and what is kept of a method's settings and of the ends that all methods share."""
        own = self.curves[key]
        if key[2] not in BOUNDS:
            own = [*own, *(i for end in ENDS for i in self.curves[key[0], FIRST, end])]
        return values[..., own, MEASURES.index(leak)], values[..., own, MEASURES.index("kept")]

    def _area(self, values: np.ndarray, leak: str, key: Key) -> np.ndarray:
        return area(*self._plane(values, leak, key), values[..., self.pure[0], MEASURES.index(leak)])

    def _gain(self, leak: str, key: Key, rival: Key) -> dict[str, float]:
        """Test what a method gains over a rival, over draws of windows: of area, or of what its one setting keeps."""

        def of_area(values: np.ndarray) -> np.ndarray:
            return self._area(values, leak, key) - self._area(values, leak, rival)

        def at_its_setting(values: np.ndarray) -> np.ndarray:
            planes = values.reshape(-1, *values.shape[-2:])
            settings = (planes[:, self.curves[key], MEASURES.index(name)] for name in (leak, "kept"))
            rivals = frontier(*self._plane(planes, leak, rival))
            # Below the smallest leak of the rival it is compared with that setting, which favours the rival.
            drawn = [y - np.interp(x, *other) for x, y, *other in zip(*settings, *rivals, strict=True)]
            return np.array(drawn).reshape(values.shape[:-2])

        difference = of_area if self._has_area(key) else at_its_setting
        return gain(float(difference(self.resampled.means)), difference(self.resampled.drawn), self.resampled.windows)

    def _gains(self, leak: str, pairs: Sequence[tuple[Key, Key]], less: str) -> Iterator[dict[str, Any]]:
        """Yield what each first of `pairs` gains over the second, if both are there; p is adjusted over methods."""
        found = {
            key: self._gain(leak, key, rival) for key, rival in pairs if key in self.curves and rival in self.curves
        }
        adjusted = holm({name: of["p"] for (*_, name), of in found.items()})
        for key, of in found.items():
            keys = {**_named(key), "measure": AREA if self._has_area(key) else KEPT, "less": less}
            yield {**keys, **of, "p": adjusted[key[2]]}


def _named(key: Key) -> dict[str, Any]:
    return dict(zip(("temperature", "order", "decoding"), key, strict=True))


def frontier(leak: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leaks (..., settings) in increasing order, and the most that is kept with no more than each of them."""
    order = np.argsort(leak, axis=-1, kind="stable")
    most = np.maximum.accumulate(np.take_along_axis(kept, order, axis=-1), axis=-1)
    return np.take_along_axis(leak, order, axis=-1), most


def area(leak: np.ndarray, kept: np.ndarray, limit: np.ndarray | float) -> np.ndarray:
    """Mean (...), over leaks from 0 to `limit` (...), of the most that is kept (..., settings) with no more than that.

    Between two settings it is interpolated, for a mixture of both keeps and leaks means of theirs; below the smallest
    leak of all settings nothing is kept.
    """
    x, y = frontier(leak, kept)
    end = np.asarray(limit)[..., None]
    width, within = np.diff(x, axis=-1), np.clip(end - x[..., :-1], 0, np.diff(x, axis=-1))
    share = np.divide(within, width, out=np.zeros_like(width), where=width > 0)
    between = (within * (y[..., :-1] + np.diff(y, axis=-1) * share / 2)).sum(axis=-1)
    beyond = np.maximum(end - x[..., -1:], 0) * y[..., -1:]
    mean: np.ndarray = (between + beyond[..., 0]) / np.asarray(limit)
    return mean


def gain(effect: float, drawn: np.ndarray, windows: int) -> dict[str, float]:
    """Return a difference, ``value``, its 95 % interval and p by Student's t, from bootstrap draws over windows."""
    sd = float(np.std(drawn, ddof=1)) if windows > 1 else np.nan
    half = expanded(TAIL, windows) * sd if windows > 1 else np.nan
    found = {"value": effect, "low": effect - half, "high": effect + half}
    if not sd > 0:
        return {**found, "p": 1.0 if effect == 0 else np.nan}
    t = abs(effect) / (sd * np.sqrt(windows / (windows - 1)))
    return {**found, "p": float(2 * stdtr(windows - 1, -t))}


class Resampled:
    """Means of `sums` (windows, settings, measures) over `count` positions of each window.

    They are of all windows and of bootstrap draws over them, as `oversmoothing.numerics.statistics.summarise` has them.
    """

    def __init__(self, sums: np.ndarray, count: np.ndarray, resamples: int, seed: int) -> None:
        self.windows = len(count)
        flat = sums.reshape(self.windows, -1)
        self.means = (flat.sum(axis=0) / count.sum()).reshape(sums.shape[1:])
        times = [
            np.bincount(draw, minlength=self.windows)
            for part in draw_windows(self.windows, resamples if self.windows > 1 else 0, seed)
            for draw in part
        ]
        weights = np.array(times, float).reshape(-1, self.windows)
        self.drawn = ((weights @ flat) / (weights @ count)[:, None]).reshape(-1, *sums.shape[1:])
