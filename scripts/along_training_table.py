"""Measurements of every snapshot of the family, as a table."""

from oversmoothing.dynamics.table import along_training_page, along_training_table
from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table
from oversmoothing.store.parquet import read_table

TITLE = "Along training: loss, head, hidden states and oversmoothing, by rank of what enters the LM head."


def main(job: Job) -> None:
    """Read the measures of each model; write the table as CSV, Markdown, HTML and LaTeX."""
    models = job.params.settings["models"]
    measured = {model["model"]: read_table(path).to_pandas() for model, path in zip(models, job.input, strict=True)}
    table = along_training_table(measured, models, job.params.settings.get("unit", "byte"))
    write_table(job.output, table, along_training_page(table, TITLE))


if __name__ == "__main__":
    run(main)
