"""How often each byte is a model's argmax, and its NSMD where the byte is the correct one (thesis 4.3)."""

from typing import TYPE_CHECKING

from oversmoothing.bytes.table import byte_page, byte_table, read_sums
from oversmoothing.jobs import run
from oversmoothing.page_formats import write_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

TITLE = "Bytes: how often each is the most probable, and oversmoothing where it is right (Figures 4.2 and 4.3)."


def main(job: "Snakemake") -> None:
    """Read the sums of the truths and the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    models = settings["models"]
    table = byte_table(read_sums(job.input), models, settings["resamples"], settings["seed"])
    write_table(job.output, table, byte_page(table, TITLE, models))


if __name__ == "__main__":
    run(main)
