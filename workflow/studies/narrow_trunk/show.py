"""Table and figure of trunks that learned on with a new full head."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.narrow_trunk.figure import draw
from studies.narrow_trunk.table import narrow_trunk_page, narrow_trunk_table


def main(job: Job) -> None:
    """Read what trunks showed; write the table and the figure in all formats."""
    settings = job.params.settings
    shown = {Path(path).stem: read_table(path).to_pandas() for path in job.input.learned_on}
    values = pd.concat([own.assign(model=model) for model, own in shown.items()], ignore_index=True)
    table = narrow_trunk_table(values, settings["models"], settings["unit"])
    write_record(job.output, table, narrow_trunk_page(table))
    write_figure(draw(table, settings["unit"]), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
