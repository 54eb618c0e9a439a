"""Beyond the thesis: the W-error of heads of the family's ranks on the language, and its effective rank."""

from collections.abc import Sequence

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.language_dimensionality.figure import draw
from studies.language_dimensionality.table import dimensionality_page, dimensionality_table

TITLE = "How many dimensions the language has: W-error of n-gram matrices, by dimensions of the head."


def main(job: Job) -> None:
    """Read sizes and spectra of every text; write the table and the figure in all formats."""
    settings = job.params.settings
    sizes = pd.concat(_by_text(settings["texts"], job.input.sizes).values())
    spectra = _by_text(settings["texts"], job.input.spectra)
    table = dimensionality_table(sizes, pd.concat(spectra.values()), settings["ranks"])
    write_record(job.output, table, dimensionality_page(table, TITLE))
    write_figure(draw(spectra, settings["ranks"]), [job.output.png, job.output.pdf, job.output.svg])


def _by_text(texts: Sequence[str], paths: Sequence[str]) -> dict[str, pd.DataFrame]:
    return {text: read_table(path).to_pandas().assign(text=text) for text, path in zip(texts, paths, strict=True)}


if __name__ == "__main__":
    run(main)
