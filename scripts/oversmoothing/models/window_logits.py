"""Logits of a model and of the truths, side by side, one window at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oversmoothing.jobs import UserError
from oversmoothing.models.logit_files import POSITION, logit_groups


@dataclass(frozen=True)
class WindowLogits:
    """The logits of one window: the model's, shape (s, v), and each truth's, of the same shape."""

    window: int
    model: np.ndarray
    truths: dict[str, np.ndarray]


def read_logits(model: str | Path, truths: Mapping[str, str | Path]) -> Iterator[WindowLogits]:
    """Yield the logits of a model and of the truths side by side, one row group (one window) at a time.

    A `UserError` names a file that is damaged, or a truth that was run over other windows or has another vocabulary.
    """
    for (keys, of_model), *of_truths in _together([model, *truths.values()]):
        for path, (its_keys, logits) in zip(truths.values(), of_truths, strict=True):
            if any(not keys[key].equals(its_keys[key]) for key in POSITION):
                raise UserError(f"{path}: other windows than {model}; delete both and run again")
            if logits.shape != of_model.shape:
                raise UserError(
                    f"{path}: a vocabulary of {logits.shape[1]}, but {model} has "
                    f"{of_model.shape[1]}; model and truth must have the same tokens"
                )
        by_truth = {name: logits for name, (_, logits) in zip(truths, of_truths, strict=True)}
        yield WindowLogits(keys["window"][0].as_py(), of_model, by_truth)


def _together(paths: Sequence[str | Path]) -> Iterator[tuple[tuple[pa.RecordBatch, np.ndarray], ...]]:
    """Read all files in step; raise a `UserError` naming one that ends before the others."""
    yield from zip(*map(logit_groups, paths), strict=False)
    counts = [pq.read_metadata(path).num_row_groups for path in paths]
    if len(set(counts)) > 1:
        short = paths[int(np.argmin(counts))]
        raise UserError(f"{short}: {min(counts)} windows, where {max(counts)} were expected; delete it and run again")
