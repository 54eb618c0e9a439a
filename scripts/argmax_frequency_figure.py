"""Figure 4.3: how often each byte is a model's most probable one, against how often it occurs."""

from typing import TYPE_CHECKING

from oversmoothing.figures.argmax_frequency import argmax_frequency_figure, argmax_shares
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table of bytes; write the figure as PNG and SVG."""
    shares = argmax_shares(read_csv(job.input[0]), job.params.settings["models"])
    write_figure(argmax_frequency_figure(shares), job.output)


if __name__ == "__main__":
    run(main, snakemake)
