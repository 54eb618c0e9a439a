"""Files of logits: of a byte-level model the logits themselves; over tokens the states from which they are rebuilt.

At v = 50,304 the logits of a position take 200 KB, and its hidden state a few. So for tokens a file holds what enters
the head, and the head lies beside it (``NAME.head.safetensors``); both are outputs of one job, and the file of states
holds the checksum of its head. Whoever reads the file sees logits in either case.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors import SafetensorError, safe_open

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.models.logits import POSITION_FIELDS, WindowStates, window_keys, with_special_mass
from oversmoothing.models.spectra import CAP
from oversmoothing.numerics.softcap import softcapped
from oversmoothing.store.parquet import open_reader, read_groups, vector_array, vector_type, vectors
from oversmoothing.store.seal import sealed_with
from oversmoothing.store.tensors import open_tensors, stored, write_tensors

POSITION = tuple(name for name, _ in POSITION_FIELDS)
STATE = "state"  # column of what enters the head
WEIGHT, BIAS = "head.weight", "head.bias"
SEAL_OF_HEAD = "seal_of_head"  # in the metadata of a file of states
ROWS = 8192  # of the head, in memory in float32 at a time


def head_file(path: str | Path) -> Path:
    """Return the path of the head that belongs to a file of states."""
    return Path(path).with_suffix(".head.safetensors")


def save_head(
    path: str | Path, weight: np.ndarray, bias: np.ndarray | None, metadata: Mapping[str, str], cap: float | None = None
) -> dict[str, str]:
    """Write a head alone, weight (v, d) and bias (v,), in float32.

    `cap` is the c of logits that are capped, which stands in the metadata and is applied where logits are rebuilt.
    Returned is what the metadata of its file of states must hold, so that it is read with this head and no other.
    """
    tensors = {WEIGHT: weight} | ({} if bias is None else {BIAS: bias})
    described = {**metadata} if cap is None else {**metadata, CAP: repr(cap)}
    write_tensors(path, {name: stored(np.asarray(array, np.float32)) for name, array in tensors.items()}, described)
    return {SEAL_OF_HEAD: sealed_with(path)}


def states_schema(width: int, precision: str, special_mass: bool = False) -> pa.Schema:
    """Return the schema of a file of states: the keys, ``state`` and for some models ``special_mass``.

    ``state`` is float32[d], or in bf16 uint16[d], the upper halves of these numbers.
    """
    kind = vector_type(width) if precision == "float32" else pa.list_(pa.uint16(), width)
    return pa.schema([*POSITION_FIELDS, (STATE, kind), *with_special_mass(special_mass)])


def states_batch(states: WindowStates, precision: str) -> pa.RecordBatch:
    """Return rows of a file of states for one window."""
    schema = states_schema(states.post.shape[1], precision, states.special_mass is not None)
    return states.batch(schema, state_array(states.post, precision))


def state_array(states: np.ndarray, precision: str) -> pa.Array:
    """Convert states (n, d) to a column, in float32 or rounded to bf16."""
    if precision == "float32":
        return vector_array(states)
    whole = np.ascontiguousarray(states, np.float32).view(np.uint32).reshape(-1)
    upper = (whole + 0x7FFF + (whole >> 16 & 1)) >> 16  # to the nearest, ties to even
    return pa.FixedSizeListArray.from_arrays(pa.array(upper.astype(np.uint16)), states.shape[1])


def logit_groups(path: str | Path, columns: Sequence[str] = POSITION) -> Iterator[tuple[pa.RecordBatch, np.ndarray]]:
    """Yield some columns and the logits, float32 (s, v), of one window at a time; errors as in `read_groups`."""
    name, logits_of = logits_column(path)
    for group in read_groups(path, [*columns, name]):
        yield group.drop_columns([name]), logits_of(group[name])


def logits_column(path: str | Path) -> tuple[str, Callable[[pa.Array], np.ndarray]]:
    """Return the column that logits are read from, ``logits`` or ``state``, and the map from its values to (n, v).

    A head is checked here, once: its seal, and that it is the one that the states were written with.
    """
    with open_reader(path) as reader:
        schema = reader.schema_arrow
    if STATE not in schema.names:
        return "logits", vectors
    beside, seal = head_file(path), (schema.metadata or {}).get(SEAL_OF_HEAD.encode(), b"").decode()
    with open_tensors(beside):
        if seal and sealed_with(beside) != seal:
            raise UserError(f"{beside}: not the head that {path} was written with; delete both and run again")
    return STATE, lambda column: rebuilt(path, states_of(column))


def states_of(column: pa.Array) -> np.ndarray:
    """Return states, float32 (n, d), of a column in either precision."""
    if column.type.value_type == pa.float32():
        return vectors(column)
    upper = column.flatten().to_numpy(zero_copy_only=True).astype(np.uint32) << 16
    return upper.view(np.float32).reshape(len(column), column.type.list_size)


def rebuilt(path: str | Path, states: np.ndarray) -> np.ndarray:
    """Return logits, float32 (n, v), of states (n, d) under the head beside a file.

    The head is read in blocks of rows.
    """
    beside = head_file(path)
    try:
        with safe_open(beside, "np") as file:
            head = file.get_slice(WEIGHT)
            v, d = head.get_shape()
            if d != states.shape[1]:
                raise UserError(f"{beside}: a head of {d} columns, but states of {states.shape[1]}; run again")
            logits = np.empty((len(states), v), np.float32)
            for start in range(0, v, ROWS):
                end = min(start + ROWS, v)
                np.matmul(states, head[start:end].T, out=logits[:, start:end])
            if BIAS in file.keys():  # noqa: SIM118 (not a dict)
                logits += file.get_tensor(BIAS)
            cap = (file.metadata() or {}).get(CAP)
    except (SafetensorError, OSError) as error:
        fault = file_fault(error) or f"no complete head ({error}); delete {path} and run again"
        raise UserError(f"{beside}: {fault}") from error
    return softcapped(logits, None if cap is None else float(cap))


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
    for (keys, of_model), *of_truths in _together([model, *truths.values()]):
        for path, (its_keys, logits) in zip(truths.values(), of_truths, strict=True):
            if any(not keys[key].equals(its_keys[key]) for key in POSITION):
                raise UserError(f"{path}: other windows than {model}; delete both and run again")
            if logits.shape != of_model.shape:
                raise UserError(
                    f"{path}: a vocabulary of {logits.shape[1]}, but {model} has "
                    f"{of_model.shape[1]}; model and truth must have the same tokens"
                )
        by_truth = {name: logits for name, (_, logits) in zip(truths, of_truths, strict=True)}
        yield WindowLogits(keys["window"][0].as_py(), of_model, by_truth)


def beside_truths(
    states: Iterable[WindowStates], truths: Mapping[str, str | Path]
) -> Iterator[tuple[WindowStates, dict[str, np.ndarray]]]:
    """Yield the windows of a model that is being run, each with the logits of truths, by name.

    `truths` are files of logits over windows that begin with these. A `UserError` names one that is of other windows or
    has another vocabulary.
    """
    groups = {name: logit_groups(path) for name, path in truths.items()}
    for state in states:
        beside, own = {}, dict(zip(POSITION, window_keys(state.window, state.target), strict=True))
        for name, path in truths.items():
            following = next(groups[name], None)
            if following is None or any(not following[0][key].equals(column) for key, column in own.items()):
                raise UserError(f"{path}: other windows than those of the config; delete it and run again")
            if (logits := following[1]).shape != state.logits.shape:
                raise UserError(f"{path}: not of the model's vocabulary; model and truth must have the same tokens")
            beside[name] = logits
        yield state, beside


def _together(paths: Sequence[str | Path]) -> Iterator[tuple[tuple[pa.RecordBatch, np.ndarray], ...]]:
    """Read all files in step; raise a `UserError` naming one that ends before the others."""
    yield from zip(*map(logit_groups, paths), strict=False)
    counts = [pq.read_metadata(path).num_row_groups for path in paths]
    if len(set(counts)) > 1:
        short = paths[int(np.argmin(counts))]
        raise UserError(f"{short}: {min(counts)} windows, where {max(counts)} were expected; delete it and run again")
