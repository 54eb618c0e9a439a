"""How often each byte is a model's argmax, and the NSMD where it is the right one (4.3)."""

from typing import TYPE_CHECKING

from oversmoothing.bytes.table import byte_table, read_sums, write_latex, write_pages
from oversmoothing.jobs import run
from oversmoothing.layout import write_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Bytes: how often each is the most probable, and oversmoothing where it is right (Figures 4.2 and 4.3)."


def main(job: "Snakemake") -> None:
    """Read the sums of the truths and the family; write the table as CSV, Markdown and LaTeX."""
    settings = job.params.settings
    models = settings["models"]
    table = byte_table(read_sums(job.input), models, settings["resamples"], settings["seed"])
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE, models)
    write_latex(table, job.output.latex, TITLE, models)


if __name__ == "__main__":
    run(main, snakemake)
