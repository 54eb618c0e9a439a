"""Error of the published shortcut: TBAT with SVD approximations of the head beside the exact TBAT."""

from oversmoothing.jobs import Job, run
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.tbat_approximations import approximation_page, approximation_table

TITLE = "BAT with an SVD approximation of the head: mass of the reject set by rank of the approximation."


def main(job: Job) -> None:
    """Read the scores of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    table = approximation_table(job.input.scores, settings["models"], settings["resamples"], settings["seed"])
    write_record(job.output, table, approximation_page(table, TITLE))


if __name__ == "__main__":
    run(main)
