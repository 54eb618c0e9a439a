"""Figure 4.2: NSMD at each byte, of the models that oversmooth most and least, and how often the byte occurs."""

from typing import TYPE_CHECKING

from oversmoothing.figures.byte_oversmoothing import byte_oversmoothing_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table of bytes; write the figure as PNG and SVG."""
    settings = job.params.settings
    figure = byte_oversmoothing_figure(read_csv(job.input[0]), settings["models"], settings["truth"])
    write_figure(figure, job.output)


if __name__ == "__main__":
    run(main, snakemake)
