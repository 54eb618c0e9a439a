"""Beyond the thesis: the law of losses and how far above it each model ends."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.page_formats import write_table
from oversmoothing.saturation.table import saturation_page, saturation_table
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

TITLE = "Saturation: how far above the law of losses each model ends."


def main(job: "Snakemake") -> None:
    """Read the law and the points; write the table as CSV, Markdown, HTML and LaTeX."""
    law, points = (read_table(path).to_pandas() for path in (job.input.law, job.input.points))
    table = saturation_table(law, points, job.params.settings["models"])
    write_table(job.output, table, saturation_page(table, TITLE))


if __name__ == "__main__":
    run(main)
