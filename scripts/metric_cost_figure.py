"""The costs of Table I.1 as a figure."""

from typing import TYPE_CHECKING

from oversmoothing.figures.metric_cost import metric_cost_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.layout import read_csv

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table; write the figure as PNG and SVG."""
    write_figure(metric_cost_figure(read_csv(job.input[0], dtype={"published_model": str})), job.output)


if __name__ == "__main__":
    run(main, snakemake)
