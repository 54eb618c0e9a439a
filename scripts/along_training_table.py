"""The table along training: what every snapshot of the family is like."""

from typing import TYPE_CHECKING

from oversmoothing.dynamics.table import along_training_table, write_latex, write_pages
from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Along training: loss, head, hidden states and oversmoothing, by rank of what enters the LM head"


def main(job: "Snakemake") -> None:
    """Read the measures of each model; write the table as CSV, Markdown, HTML and LaTeX."""
    models = job.params.settings["models"]
    measured = {model["model"]: read_table(path).to_pandas() for model, path in zip(models, job.input, strict=True)}
    table = along_training_table(measured, models)
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], f"{TITLE}.")
    write_latex(table, job.output.latex, f"{TITLE}.")


if __name__ == "__main__":
    run(main, snakemake)
