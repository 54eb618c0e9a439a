"""Tables for claims: the thesis's printed means as if three seeds had measured them, and rows that a test makes."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd

from oversmoothing.claims.measured import Measured, Rank, of_thesis
from oversmoothing.jobs import import_by_name
from plan import studies, thesis

ROOT = Path(__file__).resolve().parents[1]
SEEDS = (1, 2, 3)
CLAIMED = thesis.claimed({"studies": studies.there()})
CLAIMING = studies.with_part({"studies": studies.there()}, "claims.py")
PRINTED = of_thesis(
    {name: [ROOT / f"resources/published/table_{number}.csv" for number in of] for name, of in CLAIMED.items()}
)


def claims_of(*names):
    """Claims by id: of the core (""), and of studies by name."""
    modules = [
        import_by_name("oversmoothing.claims.catalogue" if not name else f"studies.{name}.claims") for name in names
    ]
    return {claim.id: claim for module in modules for claim in module.CLAIMS}


def as_run(*changes, seeds=SEEDS, spread=1e-6):
    """Return the printed means as a run of several seeds, after changes: ``(table, {column: value}, new)``.

    `new` is a number, or a function of the old ones. Seeds scatter by a share of each number, which is their mean.
    """
    tables = {}
    for name in CLAIMED:
        draw = np.random.default_rng([*name.encode()])  # the same whatever other tables are there
        if CLAIMED[name]:
            table = PRINTED.table(name).copy()
            for of, where, new in changes:
                if of == name:
                    rows = np.logical_and.reduce(
                        [(table[column] == value).fillna(False) for column, value in where.items()]
                    )
                    assert rows.any(), where
                    table.loc[rows, "value"] = new(table.value[rows]) if callable(new) else float(new)
            scatter = draw.standard_normal((len(seeds), len(table)))
            factors = 1 + spread * (scatter - scatter.mean(axis=0))
            of_seeds = zip(seeds, factors, strict=True)
            parts = [table.assign(seed=seed, value=table.value * factor) for seed, factor in of_seeds]
            tables[name] = pd.concat(parts, ignore_index=True)
    return Measured(tables, PRINTED.family)


def measured(ranks=(), **tables):
    """Return tables of given rows: dictionaries of columns, with ``value`` a number for each seed or a single one."""
    made = {}
    for name, rows in tables.items():
        each = [
            {"kind": "family", **row, "value": value, "seed": seed}
            for row in rows
            for seed, value in enumerate(row["value"] if isinstance(row["value"], tuple) else (row["value"],))
        ]
        made[name] = pd.DataFrame(each)
    return Measured(made, [Rank(rank, rank) for rank in ranks])


def around(mean, spread=0.01):
    """Return three values with this mean."""
    return (mean - spread, mean + spread, mean)


def by_rank(measure, ranks, **where):
    """Return rows of a measure with a value, or one for each seed, by rank."""
    return [{"rank": rank, "measure": measure, "value": value, **where} for rank, value in ranks.items()]


def of_studies(name):
    """Return what the ``claim_cases.py`` of the studies hold under a name."""
    modules = [runpy.run_path(str(path)) for path in sorted(ROOT.glob("tests/studies/*/claim_cases.py"))]
    return [module[name] for module in modules if name in module]
