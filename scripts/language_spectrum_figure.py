"""Beyond the thesis: W-error of n-gram matrices against dimensions, for each text and length of context."""

from typing import TYPE_CHECKING

from oversmoothing.figures.language_spectrum import language_spectrum_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the spectra of every text; write the figure as PNG and SVG."""
    settings = job.params.settings
    spectra = {text: read_table(path).to_pandas() for text, path in zip(settings["texts"], job.input, strict=True)}
    write_figure(language_spectrum_figure(spectra, settings["ranks"]), job.output)


if __name__ == "__main__":
    run(main, snakemake)
