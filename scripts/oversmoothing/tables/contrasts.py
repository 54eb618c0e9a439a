"""Contrasts as data: values by seed less others of the same seed, and means over seeds, in rows of the record.

Values are a frame with the columns ``seed`` and ``value``, of windows also ``window`` and ``n``; others are keys.
What is subtracted is named in the column ``less`` of the record.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.crossed import crossed_interval
from oversmoothing.tables.record import chosen, over_seeds

THIRD = 1 / 3  # by which an interval may be wider than another without a word


def at(values: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Return rows with these values in columns, without these columns: what others are paired with (see `paired`)."""
    return chosen(values, **where).drop(columns=list(where))


def paired(values: pd.DataFrame, base: pd.DataFrame, less: str) -> pd.DataFrame:
    """Return values less the `base` with the same seed and other keys, one at most, named `less`.

    Others are left out.
    """
    both = values.merge(base, on=[name for name in base if name != "value"], suffixes=("", "_less"))
    return both.assign(value=both.value - both.value_less, less=less).drop(columns="value_less")


def means(*values: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over seeds of values with the same keys, with Student's interval.

    There is no row where a seed has no number.
    """
    rows: list[dict[str, Any]] = []
    for own in values:
        keys = [name for name in own if name not in ("seed", "value")]
        for key, part in own.sort_values("seed", kind="stable").groupby(keys, sort=False, dropna=False):
            if part.value.notna().all():
                rows.append(dict(zip(keys, key, strict=True)) | over_seeds(part.value))
    return pd.DataFrame(rows)


def by_window(
    shown: pd.DataFrame,
    moving: pd.DataFrame | None,
    n: pd.Series,
    arm: str,
    controls: Sequence[str],
    near: tuple[int, int, float],
) -> np.ndarray:
    """Return by window what an arm shows less what controls show at its loss; tables of one seed, a row for each arm.

    `moving` are the losses on the windows, if it is these that are equal. The mean over windows, weighed by `n`, is the
    difference.
    """
    before, after, share = near
    a, b = controls[before], controls[after]

    def apart(table: pd.DataFrame) -> np.ndarray:
        return (table.loc[arm] - (1 - share) * table.loc[a] - share * table.loc[b]).to_numpy()

    if moving is None or before == after:
        return apart(shown)
    slope = ((shown.loc[b] - shown.loc[a]) @ n) / ((moving.loc[b] - moving.loc[a]) @ n)
    return apart(shown) - slope * apart(moving)


def over_windows(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the interval over seeds and windows where there is one; what has no windows keeps its own."""
    low, high = table.low_crossed.fillna(table.low), table.high_crossed.fillna(table.high)
    return table.assign(low=low, high=high)


def widened(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return rows `over_windows`, and how these intervals differ from those over seeds.

    ``apart`` of ``of`` differ in width by more than `THIRD`; ``wider`` is the median ratio of the widths.
    """
    narrow, wide = table.high - table.low, table.high_crossed - table.low_crossed
    apart = (wide > narrow * (1 + THIRD)) | (narrow > wide * (1 + THIRD))
    compared = {"apart": int(apart.sum()), "of": int(wide.notna().sum()), "wider": float((wide / narrow).median())}
    return over_windows(table), compared


def crossed(*values: pd.DataFrame) -> pd.DataFrame:
    """Return the interval over seeds and windows of values of ``n`` positions by ``window``.

    It reaches from ``low_crossed`` to ``high_crossed``.

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
