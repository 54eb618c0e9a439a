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
        # Positions whose byte it is (occurrences), or at which it is the model's most probable one (argmaxes); the sum
        # of the NSMD over the former, and of its squares (nsmd, nsmd_squares).
        ("measure", NAME),
        ("truth", NAME),  # null where a measure needs none
        ("value", pa.float64()),
    ]
)
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
        yield _rows(window, target, rows, against)
    if scores and next(scores, None):
        raise UserError(f"{nsmd}: more windows than {logits}; delete both and run again")


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


def _rows(window: int, target: np.ndarray, logits: np.ndarray, nsmd: Mapping[str, np.ndarray]) -> pa.RecordBatch:
    """Return sums over one window.

    Ties of logits go to the lowest byte, and an NSMD of 0 has a row where the byte occurs.
    """
    v = logits.shape[1]
    occurrences, argmaxes = (np.bincount(bytes_, minlength=v) for bytes_ in (target, logits.argmax(axis=1)))
    sums: list[tuple[str, str | None, np.ndarray]] = [("occurrences", None, occurrences), ("argmaxes", None, argmaxes)]
    for truth, values in nsmd.items():
        exact = values.astype(np.float64)
        sums.append(("nsmd", truth, np.bincount(target, exact, minlength=v)))
        sums.append(("nsmd_squares", truth, np.bincount(target, exact**2, minlength=v)))
    rows = [
        {"window": window, "byte": byte, "measure": measure, "truth": truth, "value": float(values[byte])}
        for measure, truth, values in sums
        for byte in np.flatnonzero(argmaxes if measure == "argmaxes" else occurrences).tolist()
    ]
    return pa.RecordBatch.from_pylist(rows, SUMS)


if __name__ == "__main__":
    run(main)
