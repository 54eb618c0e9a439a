"""Training histories, of this study or provided by the user: model size, text seen, and loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from oversmoothing.jobs import UserError
from oversmoothing.models.spectra import BLOCKS, count_parameters
from oversmoothing.store.parquet import read_table

UNITS = ("bytes", "tokens")


@dataclass(frozen=True)
class History:
    """The losses of one training."""

    name: str
    parameters: int  # N, the number of weights
    seen: np.ndarray  # float (n,): T, the amount of text seen so far; positive and increasing
    losses: np.ndarray  # float (n,): nats per byte or per token, according to `unit`; positive
    unit: str = "bytes"  # of `seen`; or "tokens"


def study_history(name: str, history: str | Path, weights: str | Path, unit: str = "bytes") -> History:
    """Read the validation losses of a model trained here, in nats per byte or token, against those it had seen.

    The size of the model is the number of weights in its blocks. Embedding, bottleneck and head are left out, as in
    Kaplan et al. (2020), so that members of a family, which differ in the rank of the head, have the same size. The
    evaluation before the first step is left out. `unit` is "bytes" or "tokens"; the file's column is ``bytes`` in
    either case.
    """
    table = read_table(history, ["bytes", "validation_loss"])
    seen = table["bytes"].to_numpy().astype(np.float64)
    losses, later = table["validation_loss"].to_numpy(), seen > 0
    return History(name, count_parameters(weights, BLOCKS), seen[later], losses[later], unit)


def read_history(name: str, path: str | Path, parameters: int) -> History:
    """Read a history that the user provides: CSV or Parquet with ``loss``, and ``bytes`` or ``tokens``; 0 is left out.

    A `UserError` names the file and, where applicable, the row: if the file is missing, is neither CSV nor Parquet,
    lacks a column or has both ``bytes`` and ``tokens``; if a value is missing or not a number, a loss is not positive,
    an amount of text is negative or repeated; if fewer than two rows remain.
    """
    table = _read(Path(path))
    units = [unit for unit in UNITS if unit in table.column_names]
    have = ", ".join(table.column_names)
    if len(units) != 1:
        raise UserError(f"{path}: needs one column of text seen, either 'bytes' or 'tokens' (it has: {have})")
    if "loss" not in table.column_names:
        raise UserError(f"{path}: no column 'loss' (it has: {have})")
    seen, losses = (_numbers(table, column, path) for column in (units[0], "loss"))
    _refuse(path, "loss", losses, losses <= 0, "is not above 0, and the fit takes its logarithm")
    _refuse(path, units[0], seen, seen < 0, "is negative")
    order = np.argsort(seen[seen > 0], kind="stable")
    seen, losses = seen[seen > 0][order], losses[seen > 0][order]
    if np.any(twice := np.diff(seen) == 0):
        raise UserError(f"{path}: {units[0]} {seen[1:][twice][0]:g} occurs twice; keep one loss for each")
    if len(seen) < 2:
        raise UserError(f"{path}: has {len(seen)} loss with {units[0]} above 0; a history needs at least two")
    return History(name, parameters, seen, losses, units[0])


def one_unit(histories: Sequence[History]) -> str:
    """Return the unit of text shared by all histories; a `UserError` if they differ and are thus incomparable."""
    for history in histories:
        if history.unit != histories[0].unit:
            raise UserError(
                f"saturation.histories: {history.name} counts {history.unit}, {histories[0].name} "
                f"{histories[0].unit}; losses per byte and per token cannot be fitted together. Use the same column in "
                "all; models trained here count what they read, and saturation.study: false leaves them out"
            )
    return histories[0].unit


def _read(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return read_table(path)
    if path.suffix != ".csv":
        raise UserError(f"{path}: a history must be .csv or .parquet")
    try:
        return pyarrow.csv.read_csv(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{path}: not a CSV file ({str(error).splitlines()[0]})") from error


def _numbers(table: pa.Table, column: str, path: str | Path) -> np.ndarray:
    kind = table.schema.field(column).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise UserError(f"{path}: column {column!r} holds {kind}, not numbers")
    values = table[column].cast(pa.float64()).to_numpy()
    _refuse(path, column, values, ~np.isfinite(values), "is not a finite number; leave such rows out")
    return values


def _refuse(path: str | Path, column: str, values: np.ndarray, wrong: np.ndarray, why: str) -> None:
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UserError(f"{path}: row {row + 1}: {column} {values[row]:g} {why}")
