"""Table I.1, seconds per position of each metric, beside the thesis's; and the same as a figure."""

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.published import read_published
from oversmoothing.tables.record import read_record
from studies.metric_cost.figure import draw
from studies.metric_cost.table import cost_page, cost_table

TITLE = "What a metric costs, {by} (Table I.1)."


def main(job: Job) -> None:
    """Read the seconds of single positions; write the table and the figure in all formats."""
    costs = read_table(job.input.costs).to_pandas()
    table = cost_table(costs, job.params.settings["models"], read_published(job.input.published))
    write_record(job.output, table, cost_page(table, TITLE))
    write_figure(draw(read_record(job.output.csv)), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
