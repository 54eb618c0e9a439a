"""Table I.1: seconds per position of each metric, beside the thesis's."""

from typing import TYPE_CHECKING

from oversmoothing.costs.table import cost_page, cost_table
from oversmoothing.jobs import run
from oversmoothing.page_formats import write_table
from oversmoothing.published import read_published
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

TITLE = "What a metric costs, by rank of what enters the LM head (Table I.1)."


def main(job: "Snakemake") -> None:
    """Read the seconds of single positions; write the table as CSV, Markdown, HTML and LaTeX."""
    costs = read_table(job.input.costs).to_pandas()
    table = cost_table(costs, job.params.settings["models"], read_published(job.input.published))
    write_table(job.output, table, cost_page(table, TITLE))


if __name__ == "__main__":
    run(main)
