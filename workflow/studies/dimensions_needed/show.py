"""Table and figure of what heads force over a vocabulary, beside those of other configs."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import read_record
from studies.dimensions_needed.figure import draw
from studies.dimensions_needed.table import joined, one_vocabulary, vocabularies_page


def main(job: Job) -> None:
    """Read what heads force at each rank, and the tables of other vocabularies; write the table and the figure."""
    settings = job.params.settings
    by_rank = {int(Path(path).stem): read_table(path).to_pandas() for path in job.input.measured}
    members = {int(rank): name for rank, name in settings["members"].items()}
    own = one_vocabulary(by_rank, members, settings["truth"], settings["resamples"], settings["seed"])
    table = joined(own, {str(path): read_record(path) for path in job.input.beside})
    write_record(job.output, table, vocabularies_page(table))
    write_figure(draw(table), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
