"""Models beside their truths, as llama.cpp compares them: means, and quantiles over all positions."""

from oversmoothing.jobs import Job, run
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.side_by_side import side_by_side_page, side_by_side_table


def main(job: Job) -> None:
    """Read the positions of all models; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    table = side_by_side_table(job.input.positions, settings["models"], settings["resamples"], settings["seed"])
    write_record(job.output, table, side_by_side_page(table, settings["unit"]))


if __name__ == "__main__":
    run(main)
