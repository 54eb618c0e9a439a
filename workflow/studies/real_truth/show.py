"""Table and figure of the family against a truth that is trained here and against real language models."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import summarise
from oversmoothing.scores.sums import pure_means, sum_scores
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from studies.real_truth.figure import draw
from studies.real_truth.table import OF, SHARE, truths_page, truths_table


def main(job: Job) -> None:
    """Read scores, and what heads force; write the table and the figure in all formats."""
    settings = job.params.settings
    means = pd.DataFrame(pure_means(job.input.scores))
    values = pd.concat([means, forced(job.input.forced), best(job.input.best_heads)])
    between = of_truths(job.input.truths, settings["resamples"], settings["seed"])
    table = truths_table(values, between, settings["models"], settings["truths"])
    write_record(job.output, table, truths_page(table, settings["truths"]))
    write_figure(draw(table, settings["truths"]), [job.output.png, job.output.pdf, job.output.svg])


def forced(paths: Iterable[str]) -> pd.DataFrame:
    """As `pure_means`: ``forced``, what each head forces of KL, its share of KL, and the KL at the same positions."""
    return _shares((Path(path).stem, "forced", read_table(path).to_pandas()) for path in paths)


def best(paths: Iterable[str]) -> pd.DataFrame:
    """As `pure_means`: ``best``, what the best head of each rank forces on windows that it was not fitted to."""
    read = ((Path(path).stem, read_table(path).to_pandas()) for path in paths)
    return _shares((model, "best", rows[~rows.fitted]) for model, rows in read)


def of_truths(paths: Iterable[str], resamples: int, seed: int) -> pd.DataFrame:
    """As `pure_means` of truths against the others, with ``low``, ``high`` over windows and ``n`` positions."""
    rows = []
    for path in map(Path, paths):
        for (truth, _), sums in sum_scores(path, ["pure"]).items():
            found = summarise(sums, resamples, seed)
            facts = {"model": path.stem, "truth": truth, "measure": path.parent.name, "kind": "truth"}
            rows.append({**facts, "value": found.mean, "low": found.low, "high": found.high, "n": found.n})
    return pd.DataFrame(rows)


def _shares(read: Iterable[tuple[str, str, pd.DataFrame]]) -> pd.DataFrame:
    """Return the mean of a column, the mean KL at the same positions, and the share of it, by model and truth."""
    rows = []
    for model, measure, scores in read:
        means = scores.groupby("truth", observed=True)[["kl", measure]].mean()
        for truth, mean in means.iterrows():
            facts = {"model": model, "truth": truth}
            rows.append({**facts, "measure": measure, "value": mean[measure]})
            rows.append({**facts, "measure": f"{measure}{SHARE}", "value": mean[measure] / mean.kl})
            rows.append({**facts, "measure": f"{measure}{OF}", "value": mean.kl})
    return pd.DataFrame(rows, columns=["model", "truth", "measure", "value"])


if __name__ == "__main__":
    run(main)
