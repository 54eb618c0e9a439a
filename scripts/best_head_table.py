"""What of each model's distance from a truth its rank forces, what its head forces beyond, and what is left."""

from pathlib import Path

from oversmoothing.forced.best_head_table import best_head_page, summarise_best_head
from oversmoothing.forced.table import measures_table
from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table


def main(job: Job) -> None:
    """Read what heads and the best ones force; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    summaries = {
        Path(path).stem: summarise_best_head(path, settings["resamples"], settings["seed"]) for path in job.input.scores
    }
    table = measures_table(summaries, settings["models"])
    write_table(job.output, table, best_head_page(table))


if __name__ == "__main__":
    run(main)
