"""Table and figure of what other output layers and objectives are worth."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.window_logits import read_logits
from oversmoothing.scores.probabilities import softmax
from oversmoothing.scores.sums import sum_scores
from oversmoothing.tables import kinds
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import predictions
from studies.other_explanations.figure import draw
from studies.other_explanations.kinds import LINEAR_HEADS, TITLES
from studies.other_explanations.page import explanations_page
from studies.other_explanations.table import explanations_table
from studies.other_explanations.tempered import tempered

REAL = ""  # law of real text
LAW = "law"  # name of the truth of other texts


def main(job: Job) -> None:
    """Read losses, scores and impossible mass of all models; write the table and the figure in all formats."""
    settings = job.params.settings
    learners = settings["learners"]
    levels = [*losses(job.input.logits), *scored(job.input.scores, settings["truth"], REAL)]
    for path in job.input.of_laws or []:
        levels += scored([path], LAW, learners[Path(path).parts[-4]]["law"])
    models = [{"law": REAL, **model} for model in settings["models"]]
    models += [{"law": of["law"], **model} for of in learners.values() for model in of["models"]]
    linear = {(model["law"], model["model"]) for model in models if model["kind"] == LINEAR_HEADS}
    truths = {REAL: job.input.truth} | {Path(path).parent.name: path for path in job.input.laws or []}
    learned = [(path, REAL) for path in job.input.logits]
    learned += [(path, learners[Path(path).parts[-3]]["law"]) for path in job.input.learned or []]
    at_temperatures: list[dict[str, Any]] = []
    for path, law in tqdm(learned, unit="model", disable=None):
        known = {"law": law, "model": Path(path).stem}
        if law in settings["with_zeros"]:
            levels.append(known | {"measure": "impossible", "value": impossible_mass(path, truths[law])})
        if (law, known["model"]) in linear:
            at_temperatures += (known | cell for cell in tempered(path, truths[law], settings["tau"]))
    table = explanations_table(pd.DataFrame(levels), pd.DataFrame(at_temperatures), pd.DataFrame(models))
    titles = kinds.TITLES | TITLES
    write_record(job.output, table, explanations_page(table, titles, settings["truth"]))
    write_figure(draw(table, titles, settings["truth"]), [job.output.png, job.output.pdf, job.output.svg])


def losses(paths: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the mean loss of each model over the scored bytes of all windows of real text."""
    for path in paths:
        yield {"law": REAL, "model": Path(path).stem, "measure": "loss", "value": predictions(path).losses.mean}


def scored(paths: list[str], truth: str, law: str) -> Iterator[dict[str, Any]]:
    """Yield the mean of each file of scores against a truth, under pure sampling."""
    for path in map(Path, paths):
        mean = sum_scores(path, ["pure"])[truth, "pure"].mean
        yield {"law": law, "model": path.stem, "measure": path.parent.name, "value": mean}


def impossible_mass(logits: str, law: str) -> float:
    """Mean probability that a model gives to the bytes that a law, a file of log-probabilities, gives none."""
    total, positions = 0.0, 0
    for window in read_logits(logits, {LAW: law}):
        total += float((softmax(window.model.astype(np.float64)) * np.isneginf(window.truths[LAW])).sum())
        positions += len(window.model)
    return total / positions


if __name__ == "__main__":
    run(main)
