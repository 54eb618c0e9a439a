"""Learning rates that were tried for each arm, their losses, and those chosen."""

from oversmoothing.jobs import Job, run
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.learning_rates import rates_page, rates_table
from oversmoothing.training.chosen_rate import read_choice

TITLE = "Learning rates tried and chosen."


def main(job: Job) -> None:
    """Read the choices; write the table as CSV, Markdown, HTML and LaTeX."""
    table = rates_table([read_choice(path) for path in job.input])
    write_record(job.output, table, rates_page(table, TITLE))


if __name__ == "__main__":
    run(main)
