"""Sums per window and byte: occurrences, argmaxes, and NSMD where the byte occurs.

Sums can be added over windows, seeds and truths, and sums per window can be resampled by window.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.scores.files import NAME
from oversmoothing.store.parquet import open_writer, read_groups
from oversmoothing.store.provenance import provenance

SUMS = pa.schema(
    [
        ("window", pa.int32()),
        ("byte", pa.int32()),
        ("measure", NAME),  # one of MEASURES
        ("truth", NAME),  # null where a measure needs none
        ("value", pa.float64()),
    ]
)
MEASURES = {
    "occurrences": "positions whose byte it is",
    "argmaxes": "positions at which it is the model's most probable byte",
    "nsmd": "sum of the NSMD over the positions whose byte it is",
    "nsmd_squares": "sum of the squares of the same",
}
DECODING = "pure"  # the model's own distributions
GROUP = 256  # windows per row group


def main(job: Job) -> None:
    """Read the logits of a model and, if it has any, its NSMD scores; write the sums."""
    windows = sums_by_byte(job.input.logits, job.input.nsmd or None)
    with open_writer(job.output[0], SUMS, provenance({}, model=job.wildcards.model)) as writer:
        while batches := list(islice(windows, GROUP)):
            table = pa.Table.from_batches(batches).unify_dictionaries()
            writer.write_table(table, row_group_size=len(table))


def sums_by_byte(logits: str | Path, nsmd: str | Path | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the sums of each window of a model, by byte, with schema `SUMS`; a measure that does not apply has no row.

    A `UserError` is raised if logits are not finite, or the scores are not of the same windows.
    """
    scores = nsmd_by_window(nsmd) if nsmd else None
    for group, rows in logit_groups(logits, ["window", "target"]):
        window, target = group["window"][0].as_py(), group["target"].to_numpy()
        if not np.isfinite(rows.max(axis=1)).all():  # minus infinity is the logarithm of 0
            raise UserError(f"{logits}: window {window} has non-finite logits; delete it and run again")
        scored, against = next(scores, (None, {})) if scores else (window, {})
        if scored != window or any(values.shape != target.shape for values in against.values()):
            raise UserError(f"{nsmd}: other windows than {logits}; delete both and run again")
        yield _rows(window, window_sums(target, rows, against))
    if scores and next(scores, None):
        raise UserError(f"{nsmd}: more windows than {logits}; delete both and run again")


def window_sums(
    target: np.ndarray, logits: np.ndarray, nsmd: Mapping[str, np.ndarray]
) -> dict[tuple[str, str | None], np.ndarray]:
    """Return the sums over the positions of one window, by measure and truth (None where it needs none), float64 (v,).

    `target` (s,) are the bytes of the text. Ties of `logits` (s, v) go to the lowest byte, as in greedy decoding.
    """
    v = logits.shape[1]
    sums: dict[tuple[str, str | None], np.ndarray] = {
        ("occurrences", None): np.bincount(target, minlength=v).astype(float),
        ("argmaxes", None): np.bincount(logits.argmax(axis=1), minlength=v).astype(float),
    }
    for truth, values in nsmd.items():
        exact = values.astype(np.float64)
        sums["nsmd", truth] = np.bincount(target, exact, minlength=v)
        sums["nsmd_squares", truth] = np.bincount(target, exact**2, minlength=v)
    return sums


def nsmd_by_window(path: str | Path) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Yield each window of a file of scores and its scores against each truth, float32 (s,), under pure decoding.

    They are in the order of the positions, whatever the row groups.
    """
    waiting: dict[str, list[np.ndarray]] = {}
    last = None
    for group in read_groups(path, ["window", "truth", "decoding", "value"]):
        pure = group.filter(pa.compute.equal(group["decoding"].cast(pa.string()), DECODING))
        windows, values = pure["window"].to_numpy(), pure["value"].to_numpy()
        truths = pure["truth"].cast(pa.string()).to_numpy(zero_copy_only=False)
        for window in dict.fromkeys(windows.tolist()):
            if last is not None and window != last:
                yield last, {truth: np.concatenate(parts) for truth, parts in waiting.items()}
                waiting = {}
            last, of_window = window, windows == window
            for truth in dict.fromkeys(truths[of_window]):
                waiting.setdefault(truth, []).append(values[of_window & (truths == truth)])
    if last is None:
        raise UserError(f"{path}: no scores under decoding {DECODING!r}; add it to `decodings` in the config")
    yield last, {truth: np.concatenate(parts) for truth, parts in waiting.items()}


def _rows(window: int, sums: Mapping[tuple[str, str | None], np.ndarray]) -> pa.RecordBatch:
    """Convert sums to rows; an NSMD of 0 has a row where the byte occurs, and none elsewhere."""
    occurs = np.flatnonzero(sums["occurrences", None])
    parts = []
    for (measure, truth), values in sums.items():
        bytes_ = np.flatnonzero(values) if measure == "argmaxes" else occurs
        named = [
            pa.array([name] * len(bytes_), pa.string()).dictionary_encode().cast(NAME) for name in (measure, truth)
        ]
        keys = pa.array(np.full(len(bytes_), window, np.int32)), pa.array(bytes_.astype(np.int32))
        parts.append(pa.record_batch([*keys, *named, pa.array(values[bytes_])], schema=SUMS))
    return pa.Table.from_batches(parts).unify_dictionaries().combine_chunks().to_batches()[0]


if __name__ == "__main__":
    run(main)
