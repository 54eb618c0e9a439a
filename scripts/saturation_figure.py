"""Beyond the thesis: losses along training, the law of them, and where each model leaves it."""

from typing import TYPE_CHECKING

from oversmoothing.figures.saturation import saturation_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the law and the points; write the figure as PNG and SVG."""
    law, points = (read_table(path).to_pandas() for path in (job.input.law, job.input.points))
    write_figure(saturation_figure(law, points, job.params.settings["models"]), job.output)


if __name__ == "__main__":
    run(main, snakemake)
