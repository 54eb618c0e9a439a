"""Sums and summaries of files of scores, by truth and decoding."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oversmoothing.jobs import UserError
from oversmoothing.numerics.statistics import Summary, WindowSums, summarise
from oversmoothing.store.parquet import read_groups

MEANS = ["model", "truth", "measure", "value", "n"]


def summarise_scores(
    path: str | Path, decodings: Sequence[str], resamples: int, seed: int, pooled: str | None = None
) -> dict[tuple[str | None, str], Summary]:
    """Summarise one score file per truth and decoding; parameters and errors are those of `sum_scores`."""
    sums = sum_scores(path, decodings, pooled)
    return {key: summarise(by_window, resamples, seed) for key, by_window in sums.items()}


def sum_scores(
    path: str | Path, decodings: Sequence[str], pooled: str | None = None
) -> dict[tuple[str | None, str], WindowSums]:
    """Sum one score file by window, per truth (None where the metric needs none) and decoding.

    With `pooled`, the scores against all truths are summed under that name, so that its mean is the mean of theirs. A
    `UserError` is raised if the file is damaged or has no scores under one of the decodings.
    """
    sums: dict[tuple[str | None, str], WindowSums] = {}
    for group in read_groups(path, ["window", "truth", "decoding", "value"]):
        truths, decoded = group["truth"].cast(pa.string()), group["decoding"].cast(pa.string())
        for truth in truths.unique().to_pylist():
            of_truth = pc.is_null(truths) if truth is None else pc.equal(truths, truth)
            for decoding in decodings:
                scores = group.filter(pc.and_(of_truth, pc.equal(decoded, decoding)))
                by_window = sums.setdefault((pooled or truth, decoding), WindowSums())
                by_window.add(scores["window"].to_numpy(), scores["value"].to_numpy())
    for decoding in decodings:
        if not any(sums[key].count for key in sums if key[1] == decoding):
            raise UserError(f"{path}: no scores under decoding {decoding!r}; add it to `decodings` in the config")
    return sums


def pure_means(paths: Iterable[str | Path]) -> Iterator[dict[str, Any]]:
    """Yield the mean under pure sampling of each score file and truth: its `MEANS`, of ``n`` positions."""
    for path in map(Path, paths):
        for (truth, _), sums in sum_scores(path, ["pure"]).items():
            facts = {"model": path.stem, "truth": truth, "measure": path.parent.name}
            yield {**facts, "value": sums.mean, "n": sum(sums.count.values())}


def pure_windows(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the mean ``value`` of each window's ``n`` positions under pure sampling, by model, truth and measure."""
    frames = []
    for path in map(Path, paths):
        for (truth, _), sums in sum_scores(path, ["pure"]).items():
            facts = {"model": path.stem, "truth": truth, "measure": path.parent.name}
            frames.append(window_means(sums).assign(**facts))
    return pd.concat(frames, ignore_index=True)


def window_means(sums: WindowSums) -> pd.DataFrame:
    """Return the mean ``value`` of the ``n`` positions of each ``window``."""
    count, total, _ = sums.arrays()
    means = total / count + (sums.origin or 0.0)
    return pd.DataFrame({"window": sorted(sums.count), "n": count.astype(int), "value": means})


def positions_by_window(windows: pd.DataFrame) -> pd.Series:
    """Return the ``n`` positions of each window, ascending, of means that `window_means` or `pure_windows` gives."""
    return windows.drop_duplicates("window").set_index("window").n.sort_index()


def mean_brackets(path: str | Path) -> dict[str, float]:
    """Return the mean width, by decoding, of the brackets of which the scores of a file are the middles.

    It is empty if the file has none.
    """
    if "high" not in pq.read_schema(path).names:
        return {}
    widths: dict[str, list[np.ndarray]] = {}
    for group in read_groups(path, ["decoding", "low", "high"]):
        decoded = group["decoding"].cast(pa.string())
        for decoding in decoded.unique().to_pylist():
            scores = group.filter(pc.equal(decoded, decoding))
            widths.setdefault(decoding, []).append(pc.subtract(scores["high"], scores["low"]).to_numpy())
    return {decoding: float(np.concatenate(parts).mean()) for decoding, parts in widths.items()}
