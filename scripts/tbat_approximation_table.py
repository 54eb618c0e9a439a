"""Error of the published shortcut: TBAT with SVD approximations of the head beside the exact TBAT."""

from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.page_formats import write_table
from oversmoothing.tbat_approximations import approximation_page, summarise_approximations

TITLE = "BAT with an SVD approximation of the head: mass of the reject set by rank of the approximation."


def main(job: Job) -> None:
    """Read the scores of the family; write the table as CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    rows = []
    for facts, path in zip(settings["models"], map(Path, job.input.scores), strict=True):
        summaries = summarise_approximations(path, settings["resamples"], settings["seed"])
        own = list(summaries)[-1]
        for rank, (total, excess) in summaries.items():
            rows.append(
                {name: facts[name] for name in ("model", "rank", "seed")}
                | {"approximation": rank, "exact": rank == own}
                | vars(total)
                | {"excess": excess.mean, "excess_low": excess.low, "excess_high": excess.high}
            )
    table = pd.DataFrame(rows).astype({"rank": "Int64", "seed": "Int64"})
    write_table(job.output, table, approximation_page(table, TITLE))


if __name__ == "__main__":
    run(main)
