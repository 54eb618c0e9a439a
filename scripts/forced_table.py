"""What the heads of models force of their distance from each truth."""

from pathlib import Path

from oversmoothing.forced.table import forced_page, measures_table, summarise_forced
from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table


def main(job: Job) -> None:
    """Read what the heads force; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    summaries = {
        Path(path).stem: summarise_forced(path, settings["resamples"], settings["seed"]) for path in job.input.scores
    }
    table = measures_table(summaries, settings["models"])
    write_table(job.output, table, forced_page(table, settings["title"]))


if __name__ == "__main__":
    run(main)
