"""Other people's models: loss, singular entropy and anisotropy against steps, one line per model."""

from typing import TYPE_CHECKING

from oversmoothing.figures.other_models import other_models_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table of other people's models; write the figure as PNG and SVG."""
    write_figure(other_models_figure(read_csv(job.input[0])), job.output)


if __name__ == "__main__":
    run(main, snakemake)
