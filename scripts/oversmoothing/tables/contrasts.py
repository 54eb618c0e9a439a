"""Contrasts as data: values by seed less others of the same seed, and means over seeds, in rows of the record.

Values are a frame with the columns ``seed`` and ``value``, of windows also ``window`` and ``n``; others are keys.
What is subtracted is named in the column ``less`` of the record.
"""

from typing import Any

import pandas as pd

from oversmoothing.numerics.crossed import crossed_interval
from oversmoothing.tables.record import chosen, over_seeds


def at(values: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Rows with these values in columns, without these columns: what others are paired with (see `paired`)."""
    return chosen(values, **where).drop(columns=list(where))


def paired(values: pd.DataFrame, base: pd.DataFrame, less: str) -> pd.DataFrame:
    """Values less the `base` with the same seed and other keys, one at most, named `less`; others are left out."""
    both = values.merge(base, on=[name for name in base if name != "value"], suffixes=("", "_less"))
    return both.assign(value=both.value - both.value_less, less=less).drop(columns="value_less")


def means(*values: pd.DataFrame) -> pd.DataFrame:
    """Mean over seeds of values with the same keys, with Student's interval; no row where a seed has no number."""
    rows: list[dict[str, Any]] = []
    for own in values:
        keys = [name for name in own if name not in ("seed", "value")]
        for key, part in own.sort_values("seed", kind="stable").groupby(keys, sort=False, dropna=False):
            if part.value.notna().all():
                rows.append(dict(zip(keys, key, strict=True)) | over_seeds(part.value))
    return pd.DataFrame(rows)


def crossed(*values: pd.DataFrame) -> pd.DataFrame:
    """Interval over seeds and windows, ``low_crossed`` to ``high_crossed``, of values of ``n`` positions by ``window``.

    Each window must be there under every seed, as the same windows are scored of all models.
    """
    rows: list[dict[str, Any]] = []
    for own in values:
        keys = [name for name in own if name not in ("seed", "window", "n", "value")]
        for key, part in own.sort_values(["seed", "window"]).groupby(keys, sort=False, dropna=False):
            square = part.value.to_numpy().reshape(part.seed.nunique(), -1)
            _, low, high = crossed_interval(square, part.n.to_numpy()[: square.shape[1]])
            rows.append(dict(zip(keys, key, strict=True)) | {"low_crossed": low, "high_crossed": high})
    return pd.DataFrame(rows)
