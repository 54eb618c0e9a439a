"""Training histories, of this study or provided by the user: model size, text seen, and loss."""

from pathlib import Path

import numpy as np
import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.models.spectra import BLOCKS, count_parameters
from oversmoothing.store.parquet import read_table

UNITS = ("bytes", "tokens")


def study_history(name: str, history: str | Path, weights: str | Path, unit: str = "bytes") -> pd.DataFrame:
    """Read the validation losses of a model trained here, without that before step 1.

    Columns are ``model``, ``parameters`` (N), ``unit`` of the text, the amount ``seen`` so far (T) and ``loss``. N is
    of the blocks, without embedding, bottleneck and head as in Kaplan et al. (2020), so that members of a family have
    the same size. The file's column is ``bytes`` also where `unit` is "tokens".
    """
    table = read_table(history, ["bytes", "validation_loss"]).to_pandas()
    numbers = table.rename(columns={"bytes": "seen", "validation_loss": "loss"})[table.bytes > 0]
    return numbers.assign(model=name, parameters=count_parameters(weights, BLOCKS), unit=unit)


def read_history(name: str, path: str | Path, parameters: int) -> pd.DataFrame:
    """Read a history that the user provides: CSV or Parquet with ``loss``, and ``bytes`` or ``tokens``; 0 is left out.

    Columns are those of `study_history`, in order of the text seen. A `UserError` names the file and, where applicable,
    the column and the row that cannot be read.
    """
    try:
        parquet = Path(path).suffix == ".parquet"
        table = read_table(path).to_pandas() if parquet else pd.read_csv(path, engine="pyarrow")
    except ValueError as error:  # includes those of pandas's parser
        raise UserError(f"{path}: not a CSV file ({str(error).splitlines()[0]})") from error
    units, have = [unit for unit in UNITS if unit in table], ", ".join(table)
    if len(units) != 1:
        raise UserError(f"{path}: needs one column of text seen, either 'bytes' or 'tokens' (it has: {have})")
    if "loss" not in table:
        raise UserError(f"{path}: no column 'loss' (it has: {have})")
    (unit,) = units
    numbers = table[[unit, "loss"]].apply(pd.to_numeric, errors="coerce").astype(np.float64)
    for column, wrong, why in (
        (unit, ~np.isfinite(numbers[unit]), "is not a finite number; leave such rows out"),
        ("loss", ~np.isfinite(numbers.loss), "is not a finite number; leave such rows out"),
        ("loss", numbers.loss <= 0, "is not above 0, and the fit takes its logarithm"),
        (unit, numbers[unit] < 0, "is negative"),
    ):
        if wrong.any():
            raise UserError(f"{path}: row {wrong.argmax() + 1}: {column} {table[column].iloc[wrong.argmax()]} {why}")
    numbers = numbers[numbers[unit] > 0].sort_values(unit, kind="stable")
    if (twice := numbers[unit].duplicated()).any():
        raise UserError(f"{path}: {unit} {numbers[unit][twice].iloc[0]:g} occurs twice; keep one loss for each")
    if len(numbers) < 2:
        raise UserError(f"{path}: has {len(numbers)} loss with {unit} above 0; a history needs at least two")
    return numbers.rename(columns={unit: "seen"}).assign(model=name, parameters=parameters, unit=unit)
