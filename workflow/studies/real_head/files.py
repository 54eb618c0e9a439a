"""The JSON of a text: what was chosen, and the norm before the head; damage in either is one line that names it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.sealed_json import read_sealed
from studies.real_head.names import ALL, MEMORIES

LEVELS = (0.2, 0.6)  # of confidence in a token, between which the parts of memories differ


class Norm(NamedTuple):
    """The norm before a head: whether it centres, and its gain and bias (d,), float64."""

    centres: bool
    gain: np.ndarray
    bias: np.ndarray


def read_choice(path: str | Path) -> dict[str, Any]:
    """Return the fields of `truths.Choice`; memories come in the order of `MEMORIES`, which JSON does not keep."""
    with _damage(path):
        chosen = read_sealed(path)
        parts = {}
        for truth in (*MEMORIES, ALL):
            names = MEMORIES if truth == ALL else (truth,)
            parts[truth] = [_shares(own, names) for own in chosen["parts"][truth]]
            if len(parts[truth]) != cells(len(names)):
                raise ValueError(f"parts of {truth} has {len(parts[truth])} cells, not {cells(len(names))}")
        if type(count := chosen["neighbours"]) is not int or count < 1:
            raise ValueError(f"neighbours is {count!r}")
        sharpness = {name: _number(chosen["sharpness"][name], "sharpness") for name in MEMORIES}
        return {"sharpness": sharpness, "parts": parts, "scale": _number(chosen["scale"], "scale"), "neighbours": count}


def read_norm(path: str | Path, width: int) -> Norm | None:
    """Return the norm before a head of some width; None where there is none."""
    with _damage(path):
        norm = read_sealed(path)
        if not norm:
            return None
        if type(norm["centres"]) is not bool:
            raise ValueError(f"centres is {norm['centres']!r}")
        rows = {name: np.array([_number(x, name, -math.inf) for x in norm[name]]) for name in ("gain", "bias")}
        for name, row in rows.items():
            if row.shape != (width,):
                raise ValueError(f"{name} has {row.size} numbers, and the head reads {width}")
        return Norm(norm["centres"], **rows)


def cells(count: int) -> int:
    """Return the number of cells of so many memories."""
    return (len(LEVELS) + 1) ** count


def _shares(own: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    """Return the parts of memories in a cell, which leave something to the model."""
    parts = {name: _number(own[name], "parts", -math.inf) for name in names}
    if own.keys() != parts.keys() or min(parts.values()) < 0 or sum(parts.values()) > 1:
        raise ValueError(f"parts has a cell {own}")
    return parts


def _number(value: Any, name: str, above: float = 0.0) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value <= above:
        raise ValueError(f"{name} has {value!r}")
    return float(value)


@contextmanager
def _damage(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        missing = isinstance(error, KeyError)
        fault = file_fault(error) or f"damaged ({f'it lacks {error}' if missing else error}); delete it and run again"
        raise UserError(f"{path}: {fault}") from error
