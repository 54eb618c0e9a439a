"""From columns of windows to numbers with intervals: the statistics of a measure, summed window by window."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from oversmoothing.measures.catalogue import Columns, Measure, Statistic
from oversmoothing.numerics.statistics import Summary, WindowSums, share_of_mean, summarise
from oversmoothing.numerics.window_quantiles import window_quantiles
from oversmoothing.scores.catalogue.metrics import NARROW
from oversmoothing.store.parquet import read_groups

RESAMPLES, SEED = 2000, 1337  # of whole windows, for 95 % intervals; as `statistics` of the default config


class Sums:
    """Sums of a measure's columns by window; of a column with quantiles, its values, a number a position."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.by_column: dict[Any, WindowSums] = {}  # by the name of a column, or as `_key` says
        self.largest: dict[str, float] = {}
        self.values: dict[str, list[np.ndarray]] = {
            of.columns[0]: [] for of in measure.statistics.values() if of.levels
        }
        self.windows: list[np.ndarray] = []

    def add(self, windows: int | np.ndarray, columns: Columns) -> None:
        """Add columns, (n,) each, of a window, or each row of the window in `windows` (n,).

        A `ValueError` is raised if a value that counts is not finite.
        """
        for key, values, where in self._parts(columns):
            at = np.broadcast_to(windows, len(values))
            kept, rows = (at, values) if where is None else (at[where], values[where])
            self.by_column.setdefault(key, WindowSums()).add(kept, rows)
        for name in {of.columns[0] for of in self.measure.statistics.values() if of.kind == "largest"}:
            if len(values := columns[name]):
                self.largest[name] = max(self.largest.get(name, -math.inf), float(values.max()))
        for name, kept in self.values.items():
            kept.append(columns[name])
        if self.values:
            self.windows.append(np.broadcast_to(windows, len(columns[next(iter(self.values))])))

    def rows(self, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[dict[str, Any]]:
        """Yield the columns of the record that each statistic fills, means before quantiles.

        Statistics for which no position counts are left out.
        """
        for name, statistic in self.measure.statistics.items():
            if not all(self.of(statistic, column).count for column in statistic.columns):
                continue
            found = KINDS[statistic.kind](self, statistic, resamples, seed)
            if statistic.through:
                found = _mapped(found, statistic.through)
            yield {**_named(name, statistic), **_numbers(found), **self._bracket(statistic)}
        for name, statistic in self.measure.statistics.items():
            if not statistic.levels or not any(map(len, self.values[statistic.columns[0]])):
                continue
            values, windows = np.concatenate(self.values[statistic.columns[0]]), np.concatenate(self.windows)
            for at in window_quantiles(values, windows, statistic.levels, resamples, seed):
                bounds = {"value": at.value, "low": at.low, "high": at.high, "n": len(values)}
                yield {**_named(name, statistic), "quantile": at.level, **bounds}

    def of(self, statistic: Statistic, column: str) -> WindowSums:
        """Return the sums of a column over the positions that count for a statistic; empty if there are none."""
        return self.by_column.get(_key(statistic, column), WindowSums())

    def _parts(self, columns: Columns) -> Iterator[tuple[Any, np.ndarray, np.ndarray | None]]:
        """Yield what is summed: a key, values (n,), and which of them count; each once, for whichever statistics."""
        if not self.measure.statistics:
            yield from ((name, values, None) for name, values in columns.items())
        done = set()
        for statistic in self.measure.statistics.values():
            where = None
            if statistic.where:
                name, counts = statistic.where
                where = counts(columns[name])
            for name in statistic.columns:
                if (key := _key(statistic, name)) not in done:
                    done.add(key)
                    yield key, statistic.before(columns[name]) if statistic.before else columns[name], where
            if statistic.bracket:
                low, high = (columns[name] for name in statistic.bracket)
                yield statistic.bracket, high - low, where

    def _bracket(self, statistic: Statistic) -> dict[str, float]:
        """Return the mean width of brackets, if they are no points."""
        if statistic.bracket is None or not (width := self.by_column[statistic.bracket].mean) > NARROW:
            return {}
        return {"bracket": width}


def _needed(statistic: Statistic) -> set[str]:
    """Return the columns that a statistic is made of."""
    return {*statistic.columns, *(statistic.bracket or ()), *([statistic.where[0]] if statistic.where else [])}


def _key(statistic: Statistic, column: str) -> Any:
    """Return by what the sums of a column are known: by its name, if all its values count as they are."""
    if statistic.where is None and statistic.before is None:
        return column
    return column, statistic.where, statistic.before


def read_sums(path: str | Path, measure: Measure) -> dict[str, Sums]:
    """Sum a file of a measure's columns, with a ``window`` and a ``truth`` in each row, by truth; as `Sums.add`."""
    names = sorted({name for of in measure.statistics.values() for name in _needed(of)})
    sums: dict[str, Sums] = {}
    for group in read_groups(path, ["window", "truth", *names]):
        truths = group["truth"].cast(pa.string()).to_numpy(zero_copy_only=False)
        columns = {name: group[name].to_numpy(zero_copy_only=False) for name in ("window", *names)}
        for truth in dict.fromkeys(truths.tolist()):
            own = {name: values[truths == truth] for name, values in columns.items()}
            sums.setdefault(truth, Sums(measure)).add(own.pop("window"), own)
    return sums


def _mean(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    return summarise(sums.of(statistic, statistic.columns[0]), resamples, seed)


def _ratio(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    """Return the ratio of the sums of two columns; it has an interval, but no standard deviation (NaN)."""
    above, below = (sums.of(statistic, name).totals() for name in statistic.columns)
    counts = {window: round(total) for window, total in below.items()}
    by_window = WindowSums(counts, above, dict.fromkeys(above, 0.0), origin=0.0)
    return replace(summarise(by_window, resamples, seed), sd=math.nan)


def _share(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    """Return one mean as a share of another; NaN unless the interval of the other lies above 0."""
    part, whole = (sums.of(statistic, name) for name in statistic.columns)
    share, low, high = share_of_mean(part, whole, resamples, seed)
    if math.isnan(share) and len(whole.count) == 1 and whole.mean > 0:
        share = part.mean / whole.mean
    return Summary(share, math.nan, sum(whole.count.values()), low, high)


def _largest(sums: Sums, statistic: Statistic, resamples: int, seed: int) -> Summary:
    name = statistic.columns[0]
    return Summary(sums.largest[name], math.nan, sum(sums.of(statistic, name).count.values()), math.nan, math.nan)


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
