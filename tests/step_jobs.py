"""What Snakemake gives to a step, and logits as earlier steps write them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.store.parquet import open_writer, vector_array

FORMATS = {"csv": "csv", "markdown": "md", "html": "html", "latex": "tex", "png": "png", "pdf": "pdf", "svg": "svg"}


def job(inputs, output, settings=None, **wildcards):
    """Return what a step reads of Snakemake; a path as `output` is the only one."""
    return SimpleNamespace(
        input=SimpleNamespace(**inputs),
        output=[output] if isinstance(output, Path) else output,
        params=SimpleNamespace(settings=settings, device="cpu"),
        wildcards=SimpleNamespace(**wildcards),
        threads=1,
    )


def outputs(folder):
    """Name the files of a table and of its figure in all formats."""
    return SimpleNamespace(**{name: folder / f"t.{ending}" for name, ending in FORMATS.items()})


def write_logits(path, logits, targets=None):
    """Write logits (s, v) by window, with their targets (s,), or 0."""
    schema = logits_schema(len(next(iter(logits.values()))[0]))
    with open_writer(path, schema, {}) as writer:
        for window, rows in logits.items():
            target = np.asarray(targets[window] if targets else np.zeros(len(rows)), np.int32)
            writer.write_batch(pa.record_batch([*window_keys(window, target), vector_array(rows)], schema=schema))
    return path
