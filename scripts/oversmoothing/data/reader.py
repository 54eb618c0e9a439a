"""Reading of a corpus. Training imports this module, so a change to anything it imports retrains every model."""

from pathlib import Path
from typing import Any

import numpy as np

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.identity import check_text
from oversmoothing.store.provenance import sha256
from oversmoothing.store.sealed_json import read_sealed


def read_split(path: str | Path, manifest: str | Path, split: str, check: bool = True) -> np.ndarray:
    """Return bytes or tokens of a split, memory-mapped read-only.

    Size and sha256 are checked against the manifest first.

    Rules take the splits as ``ancient()``, so Snakemake does not notice a change. Without `check`, another process of
    the same job compares them. Shape (n,); uint8, or for tokens the ``dtype`` of the manifest.
    """
    path = Path(path)
    described = read_manifest(manifest)
    part = described["splits"][split]
    if not path.is_file():
        raise UserError(f"{path}: no such corpus file: build the corpus first")
    size = path.stat().st_size
    if check and size != part["bytes"]:
        raise UserError(f"{path}: {size:,} bytes, but its manifest says {part['bytes']:,}: delete it and run again")
    if check and sha256(path) != part["sha256"]:
        raise UserError(f"{path}: its sha256 is not the one in the manifest: delete it and run again")
    check_text(path, part["sha256"])
    return np.memmap(path, dtype=described.get("dtype", "uint8"), mode="r")


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest of a corpus, as `splits.build_splits` writes it.

    Each of ``splits`` has ``bytes`` and ``sha256``.
    """
    try:
        manifest = read_sealed(path)
        for split, part in manifest["splits"].items():
            if split not in ("train", "validation", "evaluation"):
                raise ValueError(f"{split!r} is no split")
            int(part["bytes"]), bytes.fromhex(part["sha256"])
    except FileNotFoundError:
        raise UserError(f"{path}: no such file: build the corpus first") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fault = file_fault(error) or f"not a complete manifest of a corpus ({error}): delete it and run again"
        raise UserError(f"{path}: {fault}") from error
    return manifest
