"""How much of the gradient of the logits reaches the trunk, along training."""

from pathlib import Path

from oversmoothing.gradient.table import gradient_page, gradient_table
from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table
from oversmoothing.store.parquet import read_table

TITLE = "How much of the gradient of the logits reaches the trunk."


def main(job: Job) -> None:
    """Read the measures of all snapshots; write the table as CSV, Markdown, HTML and LaTeX."""
    measured = {Path(path).stem: read_table(path).to_pandas() for path in job.input}
    table = gradient_table(measured, job.params.settings["models"], job.params.settings["unit"])
    write_table(job.output, table, gradient_page(table, TITLE))


if __name__ == "__main__":
    run(main)
