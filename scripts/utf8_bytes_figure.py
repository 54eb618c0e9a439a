"""Figure A.1: what each byte value is in UTF-8, and how often the training text has it."""

from typing import TYPE_CHECKING

from oversmoothing.corpus.reader import read_split
from oversmoothing.figures.style import write_figure
from oversmoothing.figures.utf8_bytes import count_bytes, utf8_bytes_figure
from oversmoothing.jobs import run

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Count the bytes of the training text; write the chart as PNG and SVG."""
    data = read_split(job.input.training, job.input.manifest, "train")
    write_figure(utf8_bytes_figure(count_bytes(data)), job.output)


if __name__ == "__main__":
    run(main, snakemake)
