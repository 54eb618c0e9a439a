"""Table and figure of what holds across seeds."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from oversmoothing.jobs import Job, run
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.scores.sums import MEANS, pure_means
from oversmoothing.store.parquet import read_groups
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import record
from studies.across_seeds.figure import draw
from studies.across_seeds.table import APART, FAMILY, TTO, across_page, across_table

COLUMNS = ["decoding", "value"]
TITLE = "What holds across seeds: levels, steps between ranks, and the floor."


def main(job: Job) -> None:
    """Read the scores; write the table and the figure in all formats."""
    settings = job.params.settings
    models = settings["models"]
    scores, of_equals = (
        pd.DataFrame(list(pure_means(paths)), columns=MEANS) for paths in (job.input.scores, job.input.equals)
    )
    table = across_table(scores, of_equals, models, settings["equals"])
    by_position = apart(job.input.scores, models)
    write_record(job.output, pd.concat([table, by_position], ignore_index=True), across_page(table, TITLE))
    write_figure(draw(table), [job.output.png, job.output.pdf, job.output.svg])


def apart(paths: Iterable[str], models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Record of how far apart the TTO of a rank and of the next are at a position, on average, for each seed."""
    files = {path.stem: path for path in map(Path, paths) if path.parent.name == TTO}
    family = pd.DataFrame(models).query(f"kind == {FAMILY!r}").sort_values("rank", kind="stable")
    rows = []
    for seed, of_seed in family.groupby("seed"):
        for one, other in pairwise(of_seed.to_dict("records")):
            distance = np.abs(values_of(files[one["model"]]) - values_of(files[other["model"]]))
            known = {key: one[key] for key in ("kind", "rank", "arm")} | {"seed": seed, "less": f"rank {other['rank']}"}
            rows.append({**known, "measure": f"{TTO}{APART}", "value": distance.mean(), "n": len(distance)})
    return record({**row, "unit": METRICS[TTO].unit} for row in rows)


def values_of(path: str | Path) -> np.ndarray:
    """Values of a file of scores under pure sampling, in the order of its rows."""
    pure = [group.filter(pc.equal(group["decoding"].cast("string"), "pure")) for group in read_groups(path, COLUMNS)]
    return np.concatenate([group["value"].to_numpy() for group in pure])


if __name__ == "__main__":
    run(main)
