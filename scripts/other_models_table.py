"""The table of other people's models: what every revision is like."""

import logging
from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.others.table import doubles, other_models_table, write_latex, write_pages
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)

TITLE = "Other people's models: loss, head and hidden states, by revision"


def main(job: "Snakemake") -> None:
    """Read the measures of each revision; write the table as CSV, Markdown, HTML and LaTeX."""
    measured = [read_table(path).to_pandas() for path in job.input]
    table = other_models_table(measured, job.params.settings["revisions"])
    for same in doubles(table):
        logger.warning("the same weights under several names: %s", same)
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], f"{TITLE}.")
    write_latex(table, job.output.latex, f"{TITLE}.")


if __name__ == "__main__":
    run(main, snakemake)
