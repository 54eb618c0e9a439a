"""Whether what BAT assumes of the truth is true, by rank, and what its sets are where half of it is."""

from pathlib import Path

from oversmoothing.bat_premise.table import premise_page, premise_table
from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table

TITLE = "What BAT assumes of the truth, and what it rejects, {by}."


def main(job: Job) -> None:
    """Read the measurements of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    paths = dict(zip((facts["model"] for facts in settings["models"]), map(Path, job.input.scores), strict=True))
    table = premise_table(paths, settings["models"], settings["resamples"], settings["seed"])
    write_table(job.output, table, premise_page(table, TITLE))


if __name__ == "__main__":
    run(main)
