"""A safetensors file: written atomically, with a seal, and equal for equal contents; read through one door.

The library's own function writes the entries of the header in an order that varies between runs, makes the file
unreadable to others, and leaves a file of unknown name behind when it is killed.
"""

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.identity import check_identity, identity, texts
from oversmoothing.store.seal import BLANK, KEY, REMEDY, check, seal

FLOATS = ("F64", "F32", "F16", "BF16")  # as files name them
_DTYPES = {np.dtype(np.float32): "F32", np.dtype(np.float16): "F16"}


@dataclass(frozen=True)
class Stored:
    """A tensor as a safetensors file describes it, its size in bytes per element, and what gives its bytes."""

    dtype: str
    shape: tuple[int, ...]
    size: int
    content: Callable[[], memoryview]


def write_tensors(path: str | Path, tensors: Mapping[str, Stored], metadata: Mapping[str, str]) -> None:
    """Write tensors, the widest first, so that all are aligned; the file's identity is added to its metadata."""
    header: dict[str, Any] = {"__metadata__": {**metadata, **identity(path), **texts(), KEY: BLANK}}
    end = 0
    ordered = dict(sorted(tensors.items(), key=lambda item: (-item[1].size, item[0])))
    for name, tensor in ordered.items():
        start, end = end, end + int(np.prod(tensor.shape, dtype=np.int64)) * tensor.size
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [start, end]}
    described = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    described = described.ljust(-(-len(described) // 8) * 8)
    with atomic_path(path) as temporary:
        with temporary.open("wb") as file:
            file.write(len(described).to_bytes(8, "little") + described)
            for tensor in ordered.values():
                file.write(tensor.content())
        seal(temporary)


@contextmanager
def open_tensors(
    path: str | Path, framework: str = "np", remedy: str = REMEDY
) -> Iterator[tuple[safe_open, dict[str, str]]]:
    """Open a safetensors file, with its metadata, after a check of its seal and identity.

    Tensors are arrays of `framework`, "np" or "pt". A `UserError`, also of reads inside the block, names the file; of a
    damaged one it ends with `remedy`.
    """
    check(path, remedy)
    try:
        with safe_open(path, framework) as file:
            metadata = {key: value for key, value in (file.metadata() or {}).items() if key != KEY}
            check_identity(path, metadata)
            yield file, metadata
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (SafetensorError, OSError, struct.error) as error:
        fault = file_fault(error) or f"not a complete safetensors file ({error}); {remedy}"
        raise UserError(f"{path}: {fault}") from error


def stored(array: np.ndarray) -> Stored:
    """Describe an array of float32 or float16."""
    return Stored(_DTYPES[array.dtype], array.shape, array.itemsize, lambda: np.ascontiguousarray(array).data.cast("B"))
