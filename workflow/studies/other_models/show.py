"""The table of every revision of other people's models, and the figure of their training."""

import logging

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.other_models.figure import draw
from studies.other_models.table import doubles, other_models_page, other_models_table

logger = logging.getLogger(__name__)

TITLE = "Other people's models: loss, head and hidden states, by revision."


def main(job: Job) -> None:
    """Read the measures of each revision; write the table and the figure in all formats."""
    measured = [read_table(path).to_pandas() for path in job.input]
    table = other_models_table(measured, job.params.settings["revisions"])
    for same in doubles(table):
        logger.warning("the same weights under several names: %s", same)
    write_record(job.output, table, other_models_page(table, TITLE))
    write_figure(draw(read_record(job.output.csv)), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
