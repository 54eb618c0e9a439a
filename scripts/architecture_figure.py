"""Figure 2.1: the architecture of the family and of a truth, as the config has it."""

from typing import TYPE_CHECKING

from oversmoothing.figures.architecture import architecture_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Write the figure as PNG and SVG."""
    write_figure(architecture_figure(job.params.settings["models"]), job.output)


if __name__ == "__main__":
    run(main, snakemake)
