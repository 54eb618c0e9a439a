"""Table 7.3: what rank each model's representations really use, beside the thesis's."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.ranks.table import ranks_table, read_published_ranks, write_latex, write_pages
from oversmoothing.store.parquet import read_table

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Effective rank of what the models represent, by rank of what enters the LM head (Table 7.3)."
COLUMNS = ["representation", "measure", "value", "n", "d"]


def main(job: "Snakemake") -> None:
    """Read the ranks of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    ranks = [read_table(path, COLUMNS).to_pandas().assign(model=Path(path).stem) for path in job.input.ranks]
    missing = [Path(path).stem for path in settings.get("missing", {}).get("ranks", [])]
    table = ranks_table(pd.concat(ranks), settings["models"], read_published_ranks(job.input.published), missing)
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], TITLE, settings["positions"], settings["threshold"])
    write_latex(table, job.output.latex, TITLE, settings["positions"], settings["threshold"])


if __name__ == "__main__":
    run(main, snakemake)
