"""Tables B.1 and B.2: the bytes that each model can never predict, beside the thesis's."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.class_names import names_of
from oversmoothing.tables.formats import write_record
from studies.argmaxable_classes.table import argmaxability_page, argmaxability_table, read_published_sets

TITLE = "Unargmaxable {} {{by}} (Tables B.1 and B.2)."


def main(job: Job) -> None:
    """Read the classes of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    columns = ["condition", "class", "argmaxable"]
    classes = [read_table(path, columns).to_pandas().assign(model=Path(path).stem) for path in job.input.classes]
    published = read_published_sets(*job.input.published)
    table = argmaxability_table(pd.concat(classes), job.params.settings["models"], published)
    names = names_of(job.input.vocabulary)
    write_record(job.output, table, argmaxability_page(table, TITLE.format(f"{names.unit}s"), names))


if __name__ == "__main__":
    run(main)
