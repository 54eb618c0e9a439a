"""Which ranks of the family leak more than which others."""

from pathlib import Path

from oversmoothing.claims.comparison import Chance, Value
from oversmoothing.claims.rank_order import rank_order, rank_order_page
from oversmoothing.jobs import Job, run
from oversmoothing.scores.sums import sum_scores
from oversmoothing.tables.formats import write_table

TITLE = "Which ranks leak more."
POOLED = "all truths"


def main(job: Job) -> None:
    """Compare the TTO of each rank with that of each higher one; write CSV, Markdown, HTML and LaTeX."""
    settings = job.params.settings
    chance = Chance(settings["resamples"], settings["seed"], settings["run_to_run"])
    values = {}
    for rank, models in settings["models"].items():
        files = [path for path in map(Path, job.input.scores) if path.stem in models]
        sums = tuple(sum_scores(path, ["pure"], POOLED)[POOLED, "pure"] for path in files)
        means = tuple(by_window.mean for by_window in sums)
        values[int(rank)] = Value(means, tuple(path.stem for path in files), "tto", sums)
    table = rank_order(values, chance)
    write_table(job.output, table, rank_order_page(table, TITLE))


if __name__ == "__main__":
    run(main)
