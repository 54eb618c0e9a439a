"""Table of models of several sizes, and what each seed adds."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.layout import write_csv
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import written
from oversmoothing.training.history import lowest_loss
from studies.leak_at_equal_loss.table import LOSS as VALIDATION
from studies.size_ladder.table import ladder_page, ladder_table


def main(job: Job) -> None:
    """Read what was measured of models and best heads; write the table in all formats, and what each seed adds."""
    settings = job.params.settings
    models = settings["models"]
    values = []
    for model, path, history in zip(models, job.input.measured, job.input.histories, strict=True):
        known = {"model": model["model"], "size": model["size"]}
        loss = {"truth": None, "measure": VALIDATION, "value": lowest_loss(history), "n": 1}
        values += [read_table(path).to_pandas().assign(**known), pd.DataFrame([{**known, **loss}])]
    fitted = [
        read_table(path).to_pandas().assign(**of) for of, path in zip(settings["best"], job.input.best, strict=True)
    ]
    found = pd.concat(values, ignore_index=True), pd.concat(fitted, ignore_index=True)
    table, by_seed = ladder_table(*found, models, settings["rungs"], settings["truth"])
    write_csv(written(by_seed, Path(job.output.seeds).stem), job.output.seeds)
    write_record(job.output, table, ladder_page(table))


if __name__ == "__main__":
    run(main)
