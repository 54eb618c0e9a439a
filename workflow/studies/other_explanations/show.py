"""Table and figure of what other output layers and objectives are worth."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.logit_files import read_logits
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.metrics import score_window
from oversmoothing.scores.probabilities import softmax
from oversmoothing.scores.sums import sum_scores
from oversmoothing.tables import kinds
from oversmoothing.tables.figures.style import write_figure
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.losses import predictions
from studies.other_explanations.figure import draw
from studies.other_explanations.kinds import LINEAR_HEADS, MEASURED, TITLES
from studies.other_explanations.page import explanations_page
from studies.other_explanations.table import explanations_table

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


TEMPERATURES = tuple(round(1.5 - 0.05 * i, 2) for i in range(24))  # hottest first, down to 0.35
TRUTH = "truth"


def tempered(logits: str, truth: str, tau: float) -> Iterator[dict[str, Any]]:
    """Yield ``temperature``, ``measure`` and ``value``: the means of the metrics over all positions of two files."""
    decoders = {str(t): partial(temperature, t=t) for t in TEMPERATURES}
    totals: dict[tuple[str, str], float] = defaultdict(float)
    positions = 0
    for window in read_logits(logits, {TRUTH: truth}):
        positions += len(window.model)
        for metric, by_temperature in score_window(window, decoders, MEASURED, tau)[TRUTH].items():
            for t, values in by_temperature.items():
                totals[metric, t] += float(values.sum(dtype="float64"))
    for (metric, t), total in totals.items():
        yield {"temperature": float(t), "measure": metric, "value": total / positions}


if __name__ == "__main__":
    run(main)
