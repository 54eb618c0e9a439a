"""Figure 3.1: training and validation loss of every model along its training."""

from typing import TYPE_CHECKING

from oversmoothing.figures.losses import losses_figure
from oversmoothing.figures.style import write_figure
from oversmoothing.jobs import run
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the histories; write the figure as PNG and SVG."""
    models = job.params.settings["models"]
    columns = ["step", "train_loss", "validation_loss"]
    histories = {
        model["model"]: read_table(path, columns).to_pandas() for model, path in zip(models, job.input, strict=True)
    }
    write_figure(losses_figure(histories, models), job.output)


if __name__ == "__main__":
    run(main, snakemake)
