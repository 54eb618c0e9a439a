"""Two models byte by byte: their sums as files have them, and the share of bytes at which one has the higher NSMD."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from oversmoothing.numerics.statistics import WindowSums, draw_windows
from oversmoothing.store.parquet import read_table

ScoresByByte = Mapping[int, WindowSums]


@dataclass(frozen=True)
class Sums:
    """Sums of one model: its NSMD against all truths by the byte of the text, and its argmaxes by byte."""

    nsmd: ScoresByByte
    argmaxes: Mapping[int, int]
    truths: int = 1


def read_sums_of(path: str | Path) -> Sums:
    """Read the sums of a model that has an NSMD (see `measure.SUMS`)."""
    table = read_table(path, ["window", "byte", "measure", "truth", "value"]).to_pandas()
    truths = table.truth.dropna().nunique()
    sums = {
        measure: part.groupby(["byte", "window"]).value.sum()
        for measure, part in table.groupby(table.measure.astype(str))
    }
    nsmd = {
        int(byte): WindowSums(
            {window: int(n) * truths for window, n in counts.droplevel("byte").items()},
            sums["nsmd"][byte].to_dict(),
            sums["nsmd_squares"][byte].to_dict(),
            origin=0.0,
        )
        for byte, counts in sums["occurrences"].groupby("byte")
    }
    return Sums(nsmd, sums["argmaxes"].groupby("byte").sum().astype(int).to_dict(), truths)


def share_higher(
    a: ScoresByByte, b: ScoresByByte, margin: float, resamples: int, seed: int
) -> tuple[float, float, float]:
    """Return the share of bytes at which the mean of `a` is above that of `b`, and its 95 % interval over windows.

    The share is of the bytes that occur, or that occur in the draw. `margin`, a share of the larger of two means, is by
    how much another training might change their difference: the low end counts bytes whose difference is above it, the
    high end those where it is above minus it. The interval is NaN with fewer than two windows.
    """
    windows = sorted({window for sums in a.values() for window in sums.count})
    (count, total_a), (_, total_b) = (_matrices(scores, sorted(a), windows) for scores in (a, b))
    whole = np.ones((1, len(windows)))
    share = float(_shares(whole, count, total_a, total_b, 0.0)[0])
    if len(windows) < 2:
        return share, np.nan, np.nan
    low, high = [], []
    for draw in draw_windows(len(windows), resamples, seed):
        times = np.stack([np.bincount(row, minlength=len(windows)) for row in draw]).astype(float)
        low.append(_shares(times, count, total_a, total_b, margin))
        high.append(_shares(times, count, total_a, total_b, -margin))
    return share, float(np.quantile(np.concatenate(low), 0.025)), float(np.quantile(np.concatenate(high), 0.975))


def _matrices(scores: ScoresByByte, bytes_: list[int], windows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the occurrences of each byte in each window and the sum of its scores: float (windows, bytes)."""
    count = pd.DataFrame({byte: scores[byte].count for byte in bytes_}, index=windows, dtype=float).fillna(0.0)
    total = pd.DataFrame({byte: scores[byte].total for byte in bytes_}, index=windows, dtype=float).fillna(0.0)
    total += count * [scores[byte].origin or 0.0 for byte in bytes_]
    return np.ascontiguousarray(count), np.ascontiguousarray(total)


def _shares(
    times: np.ndarray, count: np.ndarray, total_a: np.ndarray, total_b: np.ndarray, margin: float
) -> np.ndarray:
    """Return per draw the share of bytes with a - b above `margin` times the larger; sums serve as well as means."""
    there = times @ count > 0
    a, b = times @ total_a, times @ total_b
    higher = (a - b > margin * np.maximum(abs(a), abs(b))) & there
    return higher.sum(axis=1) / there.sum(axis=1)
