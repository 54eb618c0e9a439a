"""Tables 4.1 and 4.2: how much each model oversmooths, beside the thesis's numbers."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from oversmoothing.jobs import run
from oversmoothing.scores import summarise_scores
from oversmoothing.tables import oversmoothing_table, read_published, write_csv, write_latex, write_markdown

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

TITLE = "Oversmoothing by rank of what enters the LM head (Tables 4.1 and 4.2)."


def main(job: "Snakemake") -> None:
    """Read the scores of the family; write the table as CSV, Markdown and LaTeX."""
    settings = job.params.settings
    summaries = []
    for path in map(Path, job.input.scores):
        scores = summarise_scores(path, "pure", settings["resamples"], settings["seed"])
        summaries += [
            {"metric": path.parent.name, "model": path.stem, "truth": truth, **vars(summary)}
            for truth, summary in scores.items()
        ]
    table = oversmoothing_table(
        pd.DataFrame(summaries), settings["models"], settings["truths"], read_published(job.input.published)
    )
    write_csv(table, job.output.csv)
    write_markdown(table, job.output.markdown, TITLE)
    write_latex(table, job.output.latex, TITLE)


if __name__ == "__main__":
    run(main, snakemake)
