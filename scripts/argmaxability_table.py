"""Tables B.1 and B.2: which bytes each model can never predict, beside the thesis's."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from oversmoothing.argmaxability.table import argmaxability_table, read_published_sets, write_latex, write_pages
from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Unargmaxable bytes by rank of what enters the LM head (Tables B.1 and B.2)."


def main(job: "Snakemake") -> None:
    """Read the classes of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    columns = ["condition", "class", "argmaxable"]
    classes = [read_table(path, columns).to_pandas().assign(model=Path(path).stem) for path in job.input.classes]
    settings = job.params.settings
    missing = [Path(path).stem for path in settings.get("missing", {}).get("classes", [])]
    table = argmaxability_table(
        pd.concat(classes), settings["models"], read_published_sets(job.input.published), missing
    )
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE)
    write_latex(table, job.output.latex, TITLE)


if __name__ == "__main__":
    run(main, snakemake)
