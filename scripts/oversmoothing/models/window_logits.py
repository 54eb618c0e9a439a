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
    groups = [logit_groups(path, POSITION) for path in (model, *truths.values())]
    paths = list(truths.values())
    for (keys, own), *others in _together(groups, [model, *paths]):
        for path, (its_keys, logits) in zip(paths, others, strict=True):
            if any(not keys[key].equals(its_keys[key]) for key in POSITION):
                raise UserError(f"{path}: other windows than {model}; delete both and run again")
            if logits.shape != own.shape:
                raise UserError(
                    f"{path}: a vocabulary of {logits.shape[1]}, but {model} has "
                    f"{own.shape[1]}; model and truth must have the same tokens"
                )
        yield WindowLogits(
            keys["window"][0].as_py(),
            own,
            {name: logits for name, (_, logits) in zip(truths, others, strict=True)},
        )


def _together(
    groups: Sequence[Iterator[tuple[pa.RecordBatch, np.ndarray]]], paths: Sequence[str | Path]
) -> Iterator[tuple[tuple[pa.RecordBatch, np.ndarray], ...]]:
    """Advance all readers in step; raise a `UserError` naming a file that ends before the others."""
    yield from zip(*groups, strict=False)
    counts = [pq.read_metadata(path).num_row_groups for path in paths]
    if len(set(counts)) > 1:
        short = paths[int(np.argmin(counts))]
        raise UserError(f"{short}: {min(counts)} windows, where {max(counts)} were expected; delete it and run again")
