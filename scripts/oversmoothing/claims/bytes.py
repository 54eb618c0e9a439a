"""Oversmoothing by target byte (thesis 4.3, Figure 4.2)."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oversmoothing.statistics import WindowSums, draw_windows, merge
from oversmoothing.store.parquet import read_groups, read_table

ScoresByByte = Mapping[int, WindowSums]


def sum_by_byte(scores: str | Path, windows: str | Path, decoding: str = "pure") -> dict[int, WindowSums]:
    """Return the scores under one decoding, against all truths, summed by target byte and window.

    The files are a score file and its windows. They are read in row groups; one byte per position of the windows stays
    in memory.
    """
    table = read_table(windows, ["window", "scored"])
    texts = zip(table["window"].to_pylist(), table["scored"].to_pylist(), strict=True)
    targets = {window: np.frombuffer(text, np.uint8) for window, text in texts}
    sums: dict[int, WindowSums] = {}
    for group in read_groups(scores, ["window", "position", "decoding", "value"]):
        rows = group.filter(pc.equal(group["decoding"].cast(pa.string()), decoding))
        window, position = rows["window"].to_numpy(), rows["position"].to_numpy()
        values = rows["value"].to_numpy()
        target = np.empty(len(window), np.uint8)
        for name in np.unique(window):
            own = window == name
            target[own] = targets[int(name)][position[own]]
        for byte in np.unique(target):
            own = target == byte
            sums.setdefault(int(byte), WindowSums()).add(window[own], values[own])
    return sums


def by_frequency(scores: ScoresByByte) -> list[int]:
    """Return the bytes that occur, the most frequent first; ties by the byte's number."""
    return sorted(scores, key=lambda byte: (-sum(scores[byte].count.values()), byte))


def of_bytes(scores: ScoresByByte, which: Iterable[int]) -> WindowSums:
    """Merge the scores at some target bytes."""
    return merge(scores[byte] for byte in which)


def share_higher(
    a: ScoresByByte, b: ScoresByByte, margin: float, resamples: int, seed: int
) -> tuple[float, float, float]:
    """Return the share of bytes at which the mean of `a` is above that of `b`, and its 95 % interval over windows.

    The share is of the bytes that occur, or that occur in the draw. `margin` is the share of the larger of two means by
    which another training might change their difference. It affects the interval only: the low end counts bytes whose
    difference is above the margin, the high end those where it is above minus the margin. The interval is NaN with
    fewer than two windows.
    """
    bytes_ = sorted(a)
    windows = sorted({window for byte in bytes_ for window in a[byte].count})
    count, total_a = _matrices(a, bytes_, windows)
    _, total_b = _matrices(b, bytes_, windows)
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
    count, total = np.zeros((2, len(windows), len(bytes_)))
    rows = {window: i for i, window in enumerate(windows)}
    for column, byte in enumerate(bytes_):
        own = scores[byte]
        for window, n in own.count.items():
            count[rows[window], column] = n
            total[rows[window], column] = own.total[window] + n * (own.origin or 0.0)
    return count, total


def _shares(
    times: np.ndarray, count: np.ndarray, total_a: np.ndarray, total_b: np.ndarray, margin: float
) -> np.ndarray:
    """Return per draw the share of bytes with a - b above `margin` times the larger; sums serve as well as means."""
    there = times @ count > 0
    a, b = times @ total_a, times @ total_b
    higher = (a - b > margin * np.maximum(abs(a), abs(b))) & there
    return higher.sum(axis=1) / there.sum(axis=1)
