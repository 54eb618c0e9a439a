"""Table and figure of what holds across seeds."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import sum_scores
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.across_seeds.figure import draw
from studies.across_seeds.table import across_page, across_table

TITLE = "What holds across seeds: levels, steps between ranks, and the floor."


def main(job: Job) -> None:
    """Read the scores; write the table and the figure in all formats."""
    settings = job.params.settings
    table = across_table(means(job.input.scores), means(job.input.equals), settings["models"], settings["equals"])
    write_record(job.output, table, across_page(table, TITLE))
    write_figure(draw(table), [job.output.png, job.output.pdf, job.output.svg])


def means(paths: Iterable[str]) -> pd.DataFrame:
    """Mean under pure sampling of each file of scores: ``model``, ``truth``, ``measure``, ``value``, ``n``."""
    rows = []
    for path in map(Path, paths):
        for (truth, _), sums in sum_scores(path, ["pure"]).items():
            facts = {"model": path.stem, "truth": truth, "measure": path.parent.name}
            rows.append({**facts, "value": sums.mean, "n": sum(sums.count.values())})
    return pd.DataFrame(rows, columns=["model", "truth", "measure", "value", "n"])


if __name__ == "__main__":
    run(main)
