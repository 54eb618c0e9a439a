"""What Snakemake gives to a step, and splits and logits as earlier steps write them."""

import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.store.parquet import open_writer, vector_array

FORMATS = {"csv": "csv", "markdown": "md", "html": "html", "latex": "tex", "png": "png", "pdf": "pdf", "svg": "svg"}


class Files(dict):
    """Files of a job by name, also as attributes."""

    __setattr__ = dict.__setitem__

    def __getattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        return self[name]


def job(inputs, output, settings=None, params=None, **wildcards):
    """Return what a step reads of Snakemake: files by name, in order, or one; `params` are further ones."""
    return SimpleNamespace(
        input=_files(inputs),
        output=_files(output),
        params=SimpleNamespace(settings=settings, **{"device": "cpu", **(params or {})}),
        wildcards=SimpleNamespace(**wildcards),
        threads=1,
    )


def _files(named):
    if isinstance(named, dict):
        return Files(named)
    return [named] if isinstance(named, Path) else named


def outputs(folder):
    """Name the files of a table and of its figure in all formats."""
    return SimpleNamespace(**{name: folder / f"t.{ending}" for name, ending in FORMATS.items()})


def write_splits(folder, **splits):
    """Write the bytes of splits, and their manifest; return the files by name."""
    for split, text in splits.items():
        (folder / f"{split}.bin").write_bytes(text)
    parts = {split: {"bytes": len(text), "sha256": sha256(text).hexdigest()} for split, text in splits.items()}
    (folder / "manifest.json").write_text(json.dumps({"splits": parts}))
    return {split: folder / f"{split}.bin" for split in splits} | {"manifest": folder / "manifest.json"}


def write_logits(path, logits, targets=None):
    """Write logits (s, v) by window, with their targets (s,), or 0."""
    schema = logits_schema(len(next(iter(logits.values()))[0]))
    with open_writer(path, schema, {}) as writer:
        for window, rows in logits.items():
            target = np.asarray(np.zeros(len(rows)) if targets is None else targets[window], np.int32)
            writer.write_batch(pa.record_batch([*window_keys(window, target), vector_array(rows)], schema=schema))
    return path
