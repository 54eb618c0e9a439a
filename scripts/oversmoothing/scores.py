"""Scores of a model's distributions against the truths', window by window, from their logits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oversmoothing.decoding import Array, Decoder
from oversmoothing.jobs import UserError
from oversmoothing.logit_files import logit_groups
from oversmoothing.metrics import score, softmax
from oversmoothing.statistics import Summary, WindowSums, summarise
from oversmoothing.store.parquet import read_groups

NAME = pa.dictionary(pa.int16(), pa.string())
SCORES = pa.schema(
    [
        ("window", pa.int32()),
        ("position", pa.int32()),  # from 0 at the first scored byte
        ("truth", NAME),  # null where a metric needs none
        ("decoding", NAME),
        ("value", pa.float32()),  # in the metric's unit, see catalogue.metrics.METRICS
    ]
)
KEYS = ("window", "position", "target")


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
    groups = [logit_groups(path, KEYS) for path in (model, *truths.values())]
    paths = list(truths.values())
    for (keys, own), *others in _together(groups, [model, *paths]):
        for path, (its_keys, logits) in zip(paths, others, strict=True):
            if any(not keys[key].equals(its_keys[key]) for key in KEYS):
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


def score_window(
    window: WindowLogits,
    decoders: Mapping[str, Decoder],
    metrics: Sequence[str],
    tau: float,
    place: Callable[[np.ndarray], Array] | None = None,
) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """Return the scores of one window as ``[truth][metric][decoding]``, float32 arrays of shape (s,).

    `place` moves logits to where they are compared, such as `on_gpu.to_gpu` does; by default they stay in NumPy.
    """
    p_bn = softmax(place(window.model) if place else window.model)
    result = {}
    for truth, logits in window.truths.items():
        p_gt = softmax(place(logits) if place else logits)
        found = score(p_bn, p_gt, list(decoders.values()), metrics, tau)
        values = found.cpu().numpy() if place else found
        result[truth] = {
            metric: {name: values[i, j] for i, name in enumerate(decoders)} for j, metric in enumerate(metrics)
        }
    return result


def summarise_scores(
    path: str | Path, decodings: Sequence[str], resamples: int, seed: int, pooled: str | None = None
) -> dict[tuple[str | None, str], Summary]:
    """Summarise one score file per truth and decoding; parameters and errors are those of `sum_scores`."""
    sums = sum_scores(path, decodings, pooled)
    return {key: summarise(own, resamples, seed) for key, own in sums.items()}


def sum_scores(
    path: str | Path, decodings: Sequence[str], pooled: str | None = None
) -> dict[tuple[str | None, str], WindowSums]:
    """Sum one score file by window, per truth (None where the metric needs none) and decoding.

    With `pooled`, the scores against all truths are summed under that name, so that its mean is the mean of theirs. A
    `UserError` is raised if the file is damaged or has no scores under one of the decodings.
    """
    sums: dict[tuple[str | None, str], WindowSums] = {}
    for group in read_groups(path, ["window", "truth", "decoding", "value"]):
        truths, found = group["truth"].cast(pa.string()), group["decoding"].cast(pa.string())
        for truth in truths.unique().to_pylist():
            of_truth = pc.is_null(truths) if truth is None else pc.equal(truths, truth)
            for decoding in decodings:
                rows = group.filter(pc.and_(of_truth, pc.equal(found, decoding)))
                own = sums.setdefault((pooled or truth, decoding), WindowSums())
                own.add(rows["window"].to_numpy(), rows["value"].to_numpy())
    if missing := [
        decoding for decoding in decodings if not any(sums[key].count for key in sums if key[1] == decoding)
    ]:
        raise UserError(f"{path}: no scores under decoding {missing[0]!r}; add it to `decodings` in the config")
    return sums


def mean_brackets(path: str | Path) -> dict[str, float]:
    """Mean width, by decoding, of the brackets of which the scores of a file are the middles; empty if it has none."""
    if "high" not in pq.read_schema(path).names:
        return {}
    widths: dict[str, list[np.ndarray]] = {}
    for group in read_groups(path, ["decoding", "low", "high"]):
        found = group["decoding"].cast(pa.string())
        for decoding in found.unique().to_pylist():
            rows = group.filter(pc.equal(found, decoding))
            widths.setdefault(decoding, []).append(pc.subtract(rows["high"], rows["low"]).to_numpy())
    return {decoding: float(np.concatenate(own).mean()) for decoding, own in widths.items()}


class ScoreRows:
    """Collects rows of one score file and writes them in row groups of a useful size."""

    GROUP = 1 << 17

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema = SCORES) -> None:
        self._writer = writer
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(
        self,
        window: int,
        truth: str | None,
        decoding: str,
        values: np.ndarray,
        *more: np.ndarray,
        positions: np.ndarray | None = None,
    ) -> None:
        """Add the values at all positions of a window, or at some, and those of any further columns of the schema."""
        rows = len(values)
        columns = [
            pa.array(np.full(rows, window, np.int32)),
            pa.array(np.arange(rows, dtype=np.int32) if positions is None else positions.astype(np.int32)),
            pa.array([truth] * rows, pa.string()).dictionary_encode().cast(NAME),
            pa.array([decoding] * rows, pa.string()).dictionary_encode().cast(NAME),
            pa.array(values.astype(np.float32)),
            *map(pa.array, more),
        ]
        self._waiting.append(pa.record_batch(columns, schema=self._schema))
        self._rows += rows
        if self._rows >= self.GROUP:
            self.flush()

    def flush(self) -> None:
        """Write the pending rows as one row group."""
        if self._waiting:
            table = pa.Table.from_batches(self._waiting).unify_dictionaries()
            self._writer.write_table(table, row_group_size=self.GROUP * 2)
        self._waiting, self._rows = [], 0


def _together(
    groups: Sequence[Iterator[tuple[pa.RecordBatch, np.ndarray]]], paths: Sequence[str | Path]
) -> Iterator[tuple[tuple[pa.RecordBatch, np.ndarray], ...]]:
    """Advance all readers in step; raise a `UserError` naming a file that ends before the others."""
    yield from zip(*groups, strict=False)
    counts = [pq.read_metadata(path).num_row_groups for path in paths]
    if len(set(counts)) > 1:
        short = paths[int(np.argmin(counts))]
        raise UserError(f"{short}: {min(counts)} windows, where {max(counts)} were expected; delete it and run again")
