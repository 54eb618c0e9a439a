"""Table and figure of what the head of a model in use forces."""

from pathlib import Path

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.record import record
from studies.real_head.figure import draw
from studies.real_head.table import forced_rows, head_page, losses_rows, sphere_rows


def main(job: Job) -> None:
    """Read losses and what the head forces; write the table and the figure in all formats."""
    settings = job.params.settings
    drawn = settings["resamples"], settings["seed"]
    rows = [
        row for path in job.input.losses for row in losses_rows(read_table(path).to_pandas(), Path(path).stem, *drawn)
    ]
    for path in map(Path, job.input.forced):
        truth, _, rank = path.stem.partition("-rank")
        keys = {"text": path.parent.name, "truth": truth, "rank": int(rank) if rank else None}
        rows += forced_rows(read_table(path).to_pandas(), keys, *drawn)
    for path in map(Path, job.input.sphere):
        keys = {"text": path.parent.name, "truth": path.stem}
        rows += sphere_rows(read_table(path).to_pandas(), keys, *drawn)
    table = record(rows)
    write_record(job.output, table, head_page(table))
    write_figure(draw(table), [job.output.png, job.output.pdf, job.output.svg])


if __name__ == "__main__":
    run(main)
