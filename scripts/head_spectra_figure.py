"""The head's singular values at every kept step, a panel per rank."""

from typing import TYPE_CHECKING

from oversmoothing.figures.along_training import head_spectra_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the spectra of each model; write the figure as PNG and SVG."""
    models = job.params.settings["models"]
    spectra = {model["model"]: read_table(path).to_pandas() for model, path in zip(models, job.input, strict=True)}
    write_figure(head_spectra_figure(spectra, models), job.output)


if __name__ == "__main__":
    run(main, snakemake)
