"""What the heads of models force of their distance from each truth: the table, and the figure where it is asked for."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.forced_part.figure import draw
from studies.forced_part.table import forced_page, measures_table, summarise_forced


def main(job: Job) -> None:
    """Read what the heads force; write the table, and for the family the figure, in all formats."""
    settings = job.params.settings
    summaries = {
        Path(path).stem: summarise_forced(path, settings["resamples"], settings["seed"]) for path in job.input.scores
    }
    table = measures_table(summaries, settings["models"])
    kinds = {kind["kind"]: kind["title"] for kind in settings["kinds"]}
    write_record(job.output, table, forced_page(table, settings["title"], kinds))
    if any(model["kind"] == "family" for model in settings["models"]):
        write_figure(draw(read_record(job.output.csv)), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
