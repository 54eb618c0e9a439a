"""Read a split. Training imports this, so it imports next to nothing: what it imports can retrain a model."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oversmoothing.jobs import UserError


def read_split(path: str | Path) -> np.ndarray:
    """Map a split into memory, read-only.

    Parameters
    ----------
    path : str or Path
        One of the raw byte files that `splits.build_splits` writes.

    Returns
    -------
    numpy.memmap of uint8, shape (bytes,)

    Raises
    ------
    UserError
        If the file is missing or empty.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such corpus file: build the corpus first")
    if not path.stat().st_size:
        raise UserError(f"{path}: the corpus file is empty: delete it and build the corpus again")
    return np.memmap(path, dtype=np.uint8, mode="r")


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Read the manifest of a corpus.

    Returns
    -------
    dict
        As `splits.build_splits` writes it; each of ``splits`` has ``bytes`` and ``sha256``.

    Raises
    ------
    UserError
        If the file is missing, truncated or damaged.
    """
    try:
        manifest: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        for split, part in manifest["splits"].items():
            if split not in ("train", "validation", "evaluation"):
                raise ValueError(f"{split!r} is no split")
            int(part["bytes"]), bytes.fromhex(part["sha256"])
    except FileNotFoundError:
        raise UserError(f"{path}: no such file: build the corpus first") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: not a complete manifest of a corpus ({error}): delete it and run again") from error
    return manifest


def verify(path: str | Path, part: Mapping[str, Any]) -> None:
    """Check that a split is the one its manifest describes, by size and then by sha256.

    Rules take the splits as ``ancient()``, so Snakemake would not see that one was changed or damaged; reading it once
    is nothing beside training on it.

    Parameters
    ----------
    path : str or Path
    part : mapping
        The split's entry in the manifest, ``manifest["splits"]["train"]``: ``bytes`` and ``sha256``.

    Raises
    ------
    UserError
        If the file is missing or empty, or is not the one described.
    """
    size = len(read_split(path))
    if size != part["bytes"]:
        raise UserError(f"{path}: {size:,} bytes, but its manifest says {part['bytes']:,}: delete it and run again")
    with Path(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != part["sha256"]:
        raise UserError(f"{path}: its sha256 is not the one in the manifest: delete it and run again")
