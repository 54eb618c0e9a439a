"""Measurements of every revision of other people's models, as a table."""

import logging

from oversmoothing.jobs import Job, run
from oversmoothing.others.table import doubles, other_models_page, other_models_table
from oversmoothing.page_formats import write_table
from oversmoothing.store.parquet import read_table

logger = logging.getLogger(__name__)

TITLE = "Other people's models: loss, head and hidden states, by revision."


def main(job: Job) -> None:
    """Read the measures of each revision; write the table as CSV, Markdown, HTML and LaTeX."""
    measured = [read_table(path).to_pandas() for path in job.input]
    table = other_models_table(measured, job.params.settings["revisions"])
    for same in doubles(table):
        logger.warning("the same weights under several names: %s", same)
    write_table(job.output, table, other_models_page(table, TITLE))


if __name__ == "__main__":
    run(main)
