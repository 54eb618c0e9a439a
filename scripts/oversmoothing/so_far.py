"""A table from the models that are finished: which of its files there are, and what is said of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oversmoothing.progress import ABSENT, FINISHED, OUTDATED, model_of


@dataclass(frozen=True)
class Part:
    """What there is of a table's inputs.

    Attributes
    ----------
    inputs : dict
        By name: the finished files, in order, or the one file that all models share.
    missing : dict of str to list of str
        By name: the models' files that are not finished.
    lacking : list of str
        Files that no table can be made without, and that are not finished.
    """

    inputs: dict[str, Any]
    missing: dict[str, list[str]]
    lacking: list[str]

    @property
    def empty(self) -> bool:
        """Whether no model has anything to show."""
        return not any(self.inputs[name] for name in self.missing)


def part_of(
    inputs: Mapping[str, str | Sequence[str]], models: Sequence[str], states: Mapping[str, str], results: str | Path
) -> Part:
    """Divide a table's inputs into those that are finished and those that are not.

    Parameters
    ----------
    inputs : mapping
        By name: a file or a list of files.
    models : sequence of str
        Names of the models; a file of one of them may be missing.
    states : mapping
        As `progress.read_summary` gives it. A file of which it says nothing is no result and is taken as it is.
    results : path
    """
    have: dict[str, Any] = {}
    missing: dict[str, list[str]] = {}
    lacking = []
    for name, files in inputs.items():
        if not isinstance(files, str) and any(model_of(file, results) in models for file in files):
            have[name] = [file for file in files if states.get(file, FINISHED) == FINISHED]
            missing[name] = [file for file in files if file not in have[name]]
        else:
            have[name] = files
            needed = [files] if isinstance(files, str) else files
            lacking += [file for file in needed if states.get(file, FINISHED) != FINISHED]
    return Part(have, missing, lacking)


def missing_line(
    part: Part,
    truths: Sequence[str],
    trainings: Mapping[str, str],
    states: Mapping[str, str],
    results: str | Path,
) -> str:
    """Say under a table which models are missing from it, and how far each has come.

    Parameters
    ----------
    part : Part
    truths : sequence of str
        Whom the table measures against: scores wait for the logits of all of them.
    trainings : mapping
        From model to what `progress.training_state` says of it.
    states : mapping
        As `progress.read_summary` gives it.
    results : path

    Returns
    -------
    str
        One sentence, such as "Missing: bn32-s1337 (training: step 12,000 of 100,000, validation loss 1.530)."; with
        nothing missing, "".
    """
    waiting: dict[str, list[str]] = {}
    for file in (file for files in part.missing.values() for file in files):
        waiting.setdefault(str(model_of(file, results)), []).append(file)
    if waiting:
        for truth in truths:
            logits = f"{results}/logits/{truth}.parquet"
            if states.get(logits, ABSENT) != FINISHED:
                waiting.setdefault(truth, [logits])
    if not waiting:
        return ""
    return (
        f"Missing: {', '.join(_reason(model, files, trainings, states, results) for model, files in waiting.items())}."
    )


def _reason(
    model: str, files: Sequence[str], trainings: Mapping[str, str], states: Mapping[str, str], results: str | Path
) -> str:
    training = trainings[model]
    if not training.startswith(("done", "-")):
        return f"{model} (training: {training})"
    old = [file for file in files if states.get(file) == OUTDATED]
    first = Path((old or files)[0]).relative_to(results)
    return f"{model} ({first} is to be made again)" if old else f"{model} (no {first} yet)"
