"""From columns of windows to numbers with intervals: the statistics of a measure, summed window by window."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from oversmoothing.measures.catalogue import Measure, Statistic
from oversmoothing.numerics.statistics import Summary, WindowSums, share_of_mean, summarise
from oversmoothing.numerics.window_quantiles import window_quantiles
from oversmoothing.scores.catalogue.metrics import NARROW

RESAMPLES, SEED = 2000, 1337  # of whole windows, for 95 % intervals; as `statistics` of the default config


class Sums:
    """Sums of a measure's columns by window; of a column with quantiles, its values, a number a position."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.by_column: dict[str, WindowSums] = {}
        self.largest: dict[str, float] = {}
        self.values: dict[str, list[np.ndarray]] = {
            of.columns[0]: [] for of in measure.statistics.values() if of.levels
        }
        self.windows: list[np.ndarray] = []

    def add(self, window: int, columns: Mapping[str, np.ndarray]) -> None:
        """Add the columns of a window; a `ValueError` if a value is not finite."""
        for name, values in columns.items():
            at = np.full(len(values), window)
            self.by_column.setdefault(name, WindowSums()).add(at, values)
            if len(values):
                self.largest[name] = max(self.largest.get(name, -math.inf), float(values.max()))
            if name in self.values:
                self.values[name].append(values)
        if self.values:
            self.windows.append(np.full(len(columns[next(iter(self.values))]), window))

    def rows(self, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[dict[str, Any]]:
        """Yield the columns of the record that each statistic fills, means before quantiles."""
        if not any(sums.count for sums in self.by_column.values()):
            return
        for name, statistic in self.measure.statistics.items():
            found = KINDS[statistic.kind](self, statistic, resamples, seed)
            if statistic.through:
                found = _mapped(found, statistic.through)
            yield {**_named(name, statistic), **_numbers(found), **self._bracket(statistic)}
        for name, statistic in self.measure.statistics.items():
            if not statistic.levels:
                continue
            values, windows = np.concatenate(self.values[statistic.columns[0]]), np.concatenate(self.windows)
            for at in window_quantiles(values, windows, statistic.levels, resamples, seed):
                bounds = {"value": at.value, "low": at.low, "high": at.high, "n": len(values)}
                yield {**_named(name, statistic), "quantile": at.level, **bounds}

    def _bracket(self, statistic: Statistic) -> dict[str, float]:
        """Return the mean width of brackets, if they are no points."""
        if statistic.bracket is None or not (width := self.by_column[statistic.bracket].mean) > NARROW:
            return {}
        return {"bracket": width}


def _mean(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    return summarise(sums.by_column[statistic.columns[0]], resamples, seed)


def _ratio(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    """Return the ratio of the sums of two columns; it has an interval, but no standard deviation (NaN)."""
    above, below = (sums.by_column[name].totals() for name in statistic.columns)
    counts = {window: round(total) for window, total in below.items()}
    by_window = WindowSums(counts, above, dict.fromkeys(above, 0.0), origin=0.0)
    return replace(summarise(by_window, resamples, seed), sd=math.nan)


def _share(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    """Return one mean as a share of another; NaN unless the interval of the other lies above 0."""
    part, whole = (sums.by_column[name] for name in statistic.columns)
    share, low, high = share_of_mean(part, whole, resamples, seed)
    if math.isnan(share) and len(whole.count) == 1 and whole.mean > 0:
        share = part.mean / whole.mean
    return Summary(share, math.nan, sum(whole.count.values()), low, high)


def _largest(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    name = statistic.columns[0]
    return Summary(sums.largest[name], math.nan, sum(sums.by_column[name].count.values()), math.nan, math.nan)


KINDS: dict[str, Callable[[Sums, Statistic, int, int], Summary]] = {
    "mean": _mean,
    "ratio": _ratio,
    "share": _share,
    "largest": _largest,
}


def _mapped(summary: Summary, to: Callable[[float], float]) -> Summary:
    """Return an increasing function of a mean, whose interval is that of the mean, mapped; without sd."""
    mean, low, high = (value if math.isnan(value) else to(value) for value in (summary.mean, summary.low, summary.high))
    return Summary(mean, math.nan, summary.n, low, high)


def _named(name: str, statistic: Statistic) -> dict[str, Any]:
    return {"measure": name, "unit": statistic.unit, "better": statistic.better}


def _numbers(summary: Summary) -> dict[str, Any]:
    return {"value": summary.mean, **{name: getattr(summary, name) for name in ("sd", "n", "low", "high")}}
