"""Table and figure of the family at equal loss."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from oversmoothing.jobs import Job, run
from oversmoothing.numerics.statistics import summarise
from oversmoothing.scores.sums import pure_means
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import predictions
from oversmoothing.training.history import lowest_loss
from studies.leak_at_equal_loss.figure import draw
from studies.leak_at_equal_loss.table import OF_SAMPLES, equal_loss_page, equal_loss_table
from studies.sample_quality.table import summarise_quality


def main(job: Job) -> None:
    """Read losses, scores and quality; write the table and the figure in all formats."""
    settings = job.params.settings
    rows = [*losses(job.input.histories, job.input.logits), *pure_means(job.input.scores), *judged(job.input.quality)]
    table = equal_loss_table(pd.DataFrame(rows), settings["models"])
    write_record(job.output, table, equal_loss_page(table, settings["truths"]))
    write_figure(draw(table, settings["truths"]), [job.output.png, job.output.pdf, job.output.svg])


def losses(histories: Iterable[str], logits: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the validation loss of each model, and its loss on the scored bytes of the windows."""
    for path in map(Path, histories):
        yield {"model": path.parent.name, "truth": "", "measure": "validation_loss", "value": lowest_loss(path)}
    for path in map(Path, logits):
        mean = summarise(predictions(path).losses, resamples=1, seed=0).mean
        yield {"model": path.stem, "truth": "", "measure": "loss", "value": mean}


def judged(paths: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the quality of each model's samples under pure sampling."""
    for path in map(Path, paths):
        for row in summarise_quality(path, resamples=1, seed=0):
            if row["decoding"] == "pure" and row["measure"] in OF_SAMPLES:
                yield {"model": path.stem, "truth": "", "measure": row["measure"], "value": row["value"]}


if __name__ == "__main__":
    run(main)
