"""Figures 4.2, 4.3 and A.1: oversmoothing and argmaxes byte by byte, and what each byte value is in UTF-8."""

from oversmoothing.data.reader import read_split
from oversmoothing.jobs import Job, run
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.record import read_record
from studies.byte_by_byte import argmax_frequency, byte_oversmoothing, utf8_bytes


def main(job: Job) -> None:
    """Read the table of bytes and the training text; write the figures."""
    counts = utf8_bytes.count_bytes(read_split(job.input.training, job.input.manifest, "train"))
    table = read_record(job.input.table)
    models, truths = job.params.settings["models"], job.params.settings["truths"]
    figures = {
        "byte_oversmoothing": byte_oversmoothing.draw(table, models, truths[0]),
        "argmax_frequency": argmax_frequency.draw(argmax_frequency.argmax_shares(table, models), models, truths),
        "utf8_bytes": utf8_bytes.draw(counts),
    }
    for name, figure in figures.items():
        write_figure(figure, job.output[name])


if __name__ == "__main__":
    run(main)
