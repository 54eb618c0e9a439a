"""Table and figure of what it takes to learn to repeat a symbol."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.repeated_symbols.figure import draw
from studies.repeated_symbols.table import repeated_page, repeated_table


def main(job: Job) -> None:
    """Read the losses of all arms; write the table and the figure in all formats."""
    settings = job.params.settings
    runs = pd.concat([read_table(path).to_pandas().assign(arm=Path(path).stem) for path in job.input])
    table = repeated_table(runs, settings)
    write_record(job.output, table, repeated_page(table, settings))
    write_figure(draw(runs[~runs.trial], table, settings), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
