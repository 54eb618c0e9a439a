"""What each way of imposing a rank costs, paired by seed."""

from pathlib import Path
from typing import TYPE_CHECKING

from oversmoothing.imposed_rank.paired import paired_page, paired_table
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv
from oversmoothing.page_formats import write_table
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

TITLE = "What each way of imposing a rank costs over the full model, paired by seed."


def main(job: "Snakemake") -> None:
    """Read the imposed-rank table and the histories; write the table as CSV, Markdown, HTML and LaTeX."""
    histories = {Path(path).parent.name: read_table(path).to_pandas() for path in job.input.histories}
    table = paired_table(read_csv(job.input.table), histories, read_csv(job.input.published))
    write_table(job.output, table, paired_page(table, TITLE))


if __name__ == "__main__":
    run(main)
