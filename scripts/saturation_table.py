"""Beyond the thesis: the law of losses, and how far above it each model ends."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.saturation.table import saturation_table, write_latex, write_pages
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Saturation: how far above the law of losses each model ends."


def main(job: "Snakemake") -> None:
    """Read the law and the points; write the table as CSV, Markdown, HTML and LaTeX."""
    law, points = (read_table(path).to_pandas() for path in (job.input.law, job.input.points))
    table = saturation_table(law, points, job.params.settings["models"])
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE)
    write_latex(table, job.output.latex, TITLE)


if __name__ == "__main__":
    run(main, snakemake)
