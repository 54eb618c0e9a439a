"""The table and the figure of the law of losses, and of how far above it each model ends."""

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.saturation.figure import draw
from studies.saturation.table import saturation_page, saturation_table

TITLE = "Saturation: how far above the law of losses each model ends."


def main(job: Job) -> None:
    """Read the law and the points; write the table and the figure in all formats."""
    models, truths = job.params.settings["models"], job.params.settings["truths"]
    law, points = (read_table(path).to_pandas() for path in (job.input.law, job.input.points))
    table = saturation_table(law, points, models)
    write_record(job.output, table, saturation_page(table, TITLE))
    write_figure(draw(law, points, models, truths), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
