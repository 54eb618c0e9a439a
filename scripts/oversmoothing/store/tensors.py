"""A safetensors file, written without PyTorch: atomically, with a seal, and equal for equal contents.

The library's own function writes the entries of the header in an order that varies between runs, makes the file
unreadable to others, and leaves a file of unknown name behind when it is killed.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.seal import BLANK, KEY, seal

_DTYPES = {np.dtype(np.float32): "F32", np.dtype(np.float16): "F16"}


@dataclass(frozen=True)
class Stored:
    """A tensor as a safetensors file describes it, its size in bytes per element, and what gives its bytes."""

    dtype: str
    shape: tuple[int, ...]
    size: int
    content: Callable[[], memoryview]


def write_tensors(path: str | Path, tensors: Mapping[str, Stored], metadata: Mapping[str, str]) -> None:
    """Write tensors, the widest first, so that all are aligned."""
    header: dict[str, Any] = {"__metadata__": {**metadata, KEY: BLANK}}
    end = 0
    ordered = dict(sorted(tensors.items(), key=lambda item: (-item[1].size, item[0])))
    for name, own in ordered.items():
        start, end = end, end + int(np.prod(own.shape, dtype=np.int64)) * own.size
        header[name] = {"dtype": own.dtype, "shape": list(own.shape), "data_offsets": [start, end]}
    described = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    described = described.ljust(-(-len(described) // 8) * 8)
    with atomic_path(path) as temporary:
        with temporary.open("wb") as file:
            file.write(len(described).to_bytes(8, "little") + described)
            for own in ordered.values():
                file.write(own.content())
        seal(temporary)


def stored(array: np.ndarray) -> Stored:
    """Describe an array of float32 or float16."""
    return Stored(_DTYPES[array.dtype], array.shape, array.itemsize, lambda: np.ascontiguousarray(array).data.cast("B"))
