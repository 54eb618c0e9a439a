"""Which bytes models write, against human text, as a figure (Figure 5.1)."""

from typing import TYPE_CHECKING

from oversmoothing.figures.byte_frequency import byte_frequencies, byte_frequency_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the family's samples and the windows; write the figure as PNG and SVG."""
    frequencies = byte_frequencies(job.input.windows, job.input.samples, job.params.settings["models"])
    write_figure(byte_frequency_figure(frequencies), job.output)


if __name__ == "__main__":
    run(main, snakemake)
