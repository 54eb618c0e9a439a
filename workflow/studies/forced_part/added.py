"""Of the KL that a rank adds to that of full rank, the share that heads force.

What full rank lacks as well depends on the truth and on the training; this share leaves it out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from oversmoothing.numerics.crossed import crossed_interval, ratio_by_window
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.sums import positions_by_window
from oversmoothing.tables.record import over_seeds, record

ADDED, LESS = "added", "full rank"  # a measure, and the `less` of all rows here
FORCED = "forced_of_added"
OF_FORCED = {FORCED: ("forced",)}  # shares of `ADDED`, and the measures that each is the sum of: of the table `forced`
OF_BEST_HEAD = {"best_of_added": ("rank",), "trained_of_added": ("rank", "head"), FORCED: ("rank", "head", "norm")}
TINY = 1e-9  # nats


def with_added(
    table: pd.DataFrame, shares: Mapping[str, Sequence[str]], windows: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return a record of parts of KL with rows of what each rank of the family adds, and of shares of it.

    `table` has ``kl`` and the measures in `shares` by model and truth. The new rows have the ``less`` `LESS`: by seed,
    `ADDED`, KL less that of the highest rank, and each share of it; with several seeds also the means over these, with
    95 % intervals by Student's t, and over seeds and windows where `windows` has the means of the measures by
    ``model``, ``truth`` and ``window`` of ``n`` positions. A share of a mean is the mean of the shares of the seeds.
    Nothing is added where the highest rank's head forces something itself; nor a share of what may be 0.
    """
    table = table[(table["less"] != LESS).fillna(True)]
    parts = sorted({name for names in shares.values() for name in names})
    family = table[(table.kind == "family") & table.seed.notna() & table.measure.isin(["kl", *parts])]
    rows: list[dict[str, Any]] = []
    for truth, against in family.groupby("truth", sort=False):
        of_truth = None if windows is None else windows[windows.truth == truth]
        by_rank = {
            rank: of.pivot(index="seed", columns="measure", values="value")
            for rank, of in against.groupby("rank", sort=True)
        }
        names = against[against["rank"] == max(by_rank)].drop_duplicates("seed").set_index("seed").model
        full = by_rank.pop(max(by_rank)) if len(by_rank) > 1 else None
        if full is None or full[parts].sum(axis=1).abs().max() > TINY:
            continue
        for rank, own in by_rank.items():
            facts = against[against["rank"] == rank].iloc[0]
            keys = {name: facts[name] for name in ("kind", "rank", "arm", "truth")}
            models = against[against["rank"] == rank].drop_duplicates("seed").set_index("seed").model
            for measure, values in _measured(own, full, shares):
                unit = {"measure": measure, "less": LESS, "unit": "nats" if measure == ADDED else "share of KL added"}
                rows += [{**keys, **unit, "model": models[s], "seed": s, "value": x} for s, x in values.items()]
                if len(values) > 1:
                    mean = {**keys, **unit, **over_seeds(values)}
                    if of_truth is not None:
                        pairs = [(models[seed], names[seed]) for seed in values.index]
                        mean |= _over_windows(of_truth, pairs, shares.get(measure))
                    rows.append(mean)
    return record(pd.concat([table, record(rows)])) if rows else table


def _over_windows(
    windows: pd.DataFrame, pairs: Sequence[tuple[str, str]], parts: Sequence[str] | None
) -> dict[str, float]:
    """Return the interval over seeds and windows of what models add to others, in `pairs`, or of a share of it."""
    n = positions_by_window(windows)
    table = windows.pivot_table("value", ["model", "measure"], "window", observed=True)
    square = []
    for own, full in pairs:
        added = table.loc[own, "kl"] - table.loc[full, "kl"]
        if parts is None:
            square.append(added)
        else:
            square.append(ratio_by_window(sum(table.loc[own, part] for part in parts), added, n))
    _, low, high = crossed_interval(np.array(square), n)
    return {"low_crossed": low, "high_crossed": high}


def _measured(
    own: pd.DataFrame, full: pd.DataFrame, shares: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, pd.Series]]:
    """Yield `ADDED` of one rank by seed, and shares of it if it is above 0 in each seed and as far as they tell."""
    added = (own.kl - full.kl).dropna()
    if added.empty:
        return
    yield ADDED, added
    low = student_interval(added.tolist())[1]
    if added.min() > 0 and not low <= 0:
        for name, parts in shares.items():
            yield name, (own[list(parts)].sum(axis=1).reindex(added.index) / added)
