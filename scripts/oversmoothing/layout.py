"""Tidy tables as CSV, and numbers as readers see them."""

from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.sums import check_sum, write_sum

ARROWS = {"lower": "↓", "higher": "↑"}


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a tidy table, its checksum beside it; numbers keep six significant digits."""
    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.6g")
        write_sum(path, temporary)


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    """Read a table that `write_csv` wrote, or the thesis's; `options` go to pandas.

    Raises
    ------
    UserError
        If the file is missing, not the one whose checksum stands beside it, or no CSV.
    """
    check_sum(path)
    try:
        return pd.read_csv(path, **options)
    except ValueError as error:  # pandas's own errors and UnicodeDecodeError among them
        raise UserError(f"{path}: no table in CSV ({str(error).splitlines()[0]}); delete it and run again") from error


def number(value: float, decimals: int | None = None) -> str:
    """A number in so many decimals; by default three, more where nothing would be left of it, none from 100,000 on."""
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    if 1e5 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    if abs(value) >= 1e9:
        return f"{value:.1e}"
    if value == 0 or abs(value) >= 0.01:
        return f"{value:.3f}"
    return f"{value:.4f}" if abs(value) >= 0.0005 else f"{value:.1e}"
