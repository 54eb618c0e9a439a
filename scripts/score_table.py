"""A table of scores: how much each model oversmooths, beside the thesis's numbers (Tables 4, 6.1, 7.1, 7.2, E, F.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from oversmoothing.jobs import run
from oversmoothing.layout import write_csv
from oversmoothing.scores import summarise_scores
from oversmoothing.tables import beside_published, missing_summaries, read_published, write_latex, write_pages

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the scores of some models; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    summaries = []
    for path in map(Path, job.input.scores):
        scores = summarise_scores(
            path, settings["decodings"], settings["resamples"], settings["seed"], settings.get("pooled")
        )
        summaries += [
            {"metric": path.parent.name, "model": path.stem, "truth": truth, "decoding": decoding, **vars(summary)}
            for (truth, decoding), summary in scores.items()
        ]
    missing = settings.get("missing", {}).get("scores", [])
    summaries += missing_summaries(summaries, [(Path(path).parent.name, Path(path).stem) for path in missing])
    table = beside_published(
        pd.DataFrame(summaries), settings["models"], settings["truths"], read_published(job.input.published)
    )
    write_csv(table, job.output.csv)
    write_pages(table, [job.output.markdown, job.output.html], settings["title"], settings["across"])
    write_latex(table, job.output.latex, settings["title"], settings["across"])


if __name__ == "__main__":
    run(main, snakemake)
