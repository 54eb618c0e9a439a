"""Table 7.3: effective ranks of each model's representations, beside the thesis's."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.published import read_published
from studies.representation_ranks.table import ranks_page, ranks_table

TITLE = "Effective rank of what the models represent, {by} (Table 7.3)."
COLUMNS = ["representation", "measure", "value", "n", "d"]


def main(job: Job) -> None:
    """Read the ranks of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    ranks = [read_table(path, COLUMNS).to_pandas().assign(model=Path(path).stem) for path in job.input.ranks]
    table = ranks_table(pd.concat(ranks), settings["models"], read_published(job.input.published))
    write_record(job.output, table, ranks_page(table, TITLE, settings["positions"], settings["threshold"]))


if __name__ == "__main__":
    run(main)
