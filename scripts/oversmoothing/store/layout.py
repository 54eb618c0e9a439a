"""Tidy tables as CSV, and numbers as text."""

from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import UserError
from oversmoothing.store.sums import check_sum, write_text

ARROWS = {"lower": "↓", "higher": "↑"}
EXACT = 2**53  # float64 holds all whole numbers up to it


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a tidy table as CSV (see `csv_text`), and its checksum beside it."""
    write_text(path, csv_text(table))


def csv_text(table: pd.DataFrame) -> str:
    """Return a tidy table as CSV with six significant digits, whole numbers in full."""
    return table.to_csv(index=False, float_format=_digits)


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    """Read a table written by `write_csv`, or one of the thesis's; errors as of `check_sum`."""
    check_sum(path)
    try:
        return pd.read_csv(path, **options)
    except ValueError as error:  # includes pandas's parser errors and UnicodeDecodeError
        raise UserError(f"{path}: no table in CSV ({str(error).splitlines()[0]}); delete it and run again") from error


def number(value: float, decimals: int | None = None) -> str:
    """Return a number as text with the given decimals.

    By default these are three, more for very small numbers and none from 100,000 on.
    """
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    if abs(value) >= 1e5:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.1e}"
    if value == 0 or abs(value) >= 0.01:
        return f"{value:.3f}"
    return f"{value:.4f}" if abs(value) >= 0.0005 else f"{value:.1e}"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < EXACT else f"{value:.6g}"
