"""How often each byte is a model's argmax, and its NSMD where the byte is the correct one (thesis 4.3)."""

from oversmoothing.bytes.table import byte_page, byte_table, read_sums
from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table
from oversmoothing.samples.page import namer

TITLE = "{}: how often each is the most probable, and oversmoothing where it is right (Figures 4.2 and 4.3)."


def main(job: Job) -> None:
    """Read the sums of the truths and the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    models, vocabulary = settings["models"], getattr(job.input, "vocabulary", None)
    sums, unit = read_sums(job.input.sums), "token" if vocabulary else "byte"
    name_of = namer(vocabulary)
    table = byte_table(sums, models, settings["resamples"], settings["seed"], name_of, extremes_alone=bool(vocabulary))
    write_table(job.output, table, byte_page(table, TITLE.format(f"{unit}s".capitalize()), models, unit))


if __name__ == "__main__":
    run(main)
