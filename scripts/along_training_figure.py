"""Loss, singular entropy, effective rank and anisotropy against steps, one line per rank."""

from typing import TYPE_CHECKING

from oversmoothing.figures.along_training import along_training_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table along training; write the figure as PNG and SVG."""
    write_figure(along_training_figure(read_csv(job.input[0])), job.output)


if __name__ == "__main__":
    run(main, snakemake)
