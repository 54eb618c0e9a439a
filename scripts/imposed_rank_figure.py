"""Loss, accuracy and oversmoothing against rank, one line for each way to impose it."""

from typing import TYPE_CHECKING

from oversmoothing.figures.imposed_rank import imposed_rank_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table of three ways to impose a rank; write the figure as PNG and SVG."""
    write_figure(imposed_rank_figure(read_csv(job.input[0]), job.params.settings["truth"]), job.output)


if __name__ == "__main__":
    run(main, snakemake)
