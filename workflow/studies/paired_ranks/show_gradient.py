"""The table and the figure of how much of the gradient of the logits reaches the trunk, along training."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.paired_ranks.gradient import gradient_page, gradient_table
from studies.paired_ranks.gradient_figure import draw

TITLE = "How much of the gradient of the logits reaches the trunk."


def main(job: Job) -> None:
    """Read the measures of all snapshots; write the table and the figure in all formats."""
    settings = job.params.settings
    titles = {kind["kind"]: kind["title"] for kind in settings["kinds"]}
    measured = {Path(path).stem: read_table(path).to_pandas() for path in job.input}
    table = gradient_table(measured, settings["models"], settings["unit"])
    write_record(job.output, table, gradient_page(table, TITLE, titles))
    figure = draw(read_record(job.output.csv), settings["kinds"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
