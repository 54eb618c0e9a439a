"""The table and the figure of the closed square: what a rank costs in the trunk and in the head."""

from oversmoothing.jobs import Job, run
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.paired_ranks.paired import from_record
from studies.paired_ranks.square import square_page, square_table
from studies.paired_ranks.square_figure import draw

TITLE = "What a rank costs in the trunk and in the head, each head retrained on a frozen trunk."


def main(job: Job) -> None:
    """Read the differences by seed; write the table and the figure in all formats."""
    table = square_table(from_record(read_record(job.input.seeds)))
    write_record(job.output, table, square_page(table, TITLE))
    figure = draw(read_record(job.output.csv), job.params.settings["truth"])
    write_figure(figure, [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
