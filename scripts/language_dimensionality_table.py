"""Beyond the thesis: the W-error of heads of the family's ranks on the language, and its effective rank."""

from typing import TYPE_CHECKING

import pandas as pd

from oversmoothing.jobs import run
from oversmoothing.language.table import dimensionality_page, dimensionality_table
from oversmoothing.page_formats import write_table
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

TITLE = "How many dimensions the language has: W-error of n-gram matrices, by dimensions of the head."


def main(job: "Snakemake") -> None:
    """Read sizes and spectra of every text; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    sizes, spectra = (
        pd.concat(
            read_table(path).to_pandas().assign(text=text) for text, path in zip(settings["texts"], paths, strict=True)
        )
        for paths in (job.input.sizes, job.input.spectra)
    )
    table = dimensionality_table(sizes, spectra, settings["ranks"])
    write_table(job.output, table, dimensionality_page(table, TITLE, settings["seen"]))


if __name__ == "__main__":
    run(main)
