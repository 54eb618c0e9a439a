"""Progress of a study, read from its results folder, possibly while it is still running.

A file counts as finished if Snakemake would not make it again. Its summary says so of every file, so that a file made
with other windows, another threshold or older code is never mistaken for one of this config.
"""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from oversmoothing.run.pace import reported_in
from oversmoothing.store.seal import check
from oversmoothing.training.chosen_rate import with_rate
from oversmoothing.training.folder import Folder, training_key, training_packages
from oversmoothing.training.history import lowest_loss

FINISHED, OUTDATED, ABSENT = "finished", "outdated", "absent"
STAGES = {name: [name] for name in ("logits", "scores", "heads", "samples", "quality")}
STAGES["heads"] = ["argmaxability", "ranks"]
QUICK = ("tables", "figures", "models.parquet")  # made in seconds from the others
BY_FOLDER = ("models", "samples")  # folders with one subfolder per model


def read_summary(text: str) -> dict[str, str]:
    """State of each file in the output of ``snakemake --summary``: `FINISHED`, `OUTDATED` or `ABSENT`.

    An outdated one exists, but would be made again, or another output of its job would be.
    """
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {
        row["output_file"]: ABSENT if row["date"] == "-" else FINISHED if row["plan"] == "no update" else OUTDATED
        for row in rows
    }


def model_of(path: str | Path, results: str | Path) -> str | None:
    """Return the model that a file of the results folder belongs to; None for a file elsewhere."""
    path = Path(path)
    parts = path.relative_to(results).parts if path.is_relative_to(results) else ()
    if len(parts) < 2:
        return None
    return parts[1] if parts[0] in BY_FOLDER else path.stem


def training_state(
    model: Mapping[str, Any], states: Mapping[str, str], results: str | Path, code: str, manifest: Mapping[str, Any]
) -> str:
    """Say how far the training of a row of `followed_models` is: "step 12,000 of 100,000, validation loss 1.530".

    `code` is the fingerprint of the training's code, and `manifest` that of the corpus, empty if there is none yet.
    """
    folder = Path(results) / "models" / model["model"]
    weights = str(folder / "weights.safetensors")
    if model["kind"] == "svd" or not (model["settings"] or weights in states):
        return "-"  # of the hub, too
    state = states.get(weights, ABSENT)
    if state == FINISHED:
        history = folder / "history.parquet"
        if not model["settings"] or states.get(str(history)) != FINISHED:
            return "done"
        return f"done, validation loss {lowest_loss(history):.3f}"
    under_way = _under_way(model, code, manifest) if model["settings"] else None
    if under_way:
        return under_way
    return "waiting" if state == ABSENT else "to be done again"


def overview(
    models: Sequence[Mapping[str, Any]], trainings: Mapping[str, str], states: Mapping[str, str], results: str | Path
) -> list[dict[str, str]]:
    """Return a row per model: ``model``, ``training`` and a column per stage, such as "done", "waiting" or "3 of 7"."""
    found: dict[tuple[str | None, str], Counter[str]] = defaultdict(Counter)
    for path, state in states.items():
        if name := model_of(path, results):
            found[name, Path(path).relative_to(results).parts[0]][state] += 1
    rows = []
    for name in (model["model"] for model in models):
        stages = {
            stage: sum((found[name, folder] for folder in folders), Counter()) for stage, folders in STAGES.items()
        }
        row = {"model": name, "training": trainings[name], **{stage: _count(n) for stage, n in stages.items()}}
        if row["logits"] == "waiting" and (report := _reading(Path(results, "logs/byte_logits", f"{name}.log"))):
            row["logits"] = report
        rows.append(row)
    return rows


def _reading(log: Path) -> str:
    """Return how far a model has read the windows byte by byte and when: "window 30 of 100 at 28 Nov 15:32"."""
    report = reported_in(log)
    return f"{report} at {datetime.fromtimestamp(log.stat().st_mtime):%d %b %H:%M}" if report else ""


def outdated(states: Mapping[str, str], results: str | Path) -> dict[str, int]:
    """Return the number of outdated results per folder, except tables, figures and the list of models."""
    paths = [Path(path).relative_to(results) for path, state in states.items() if state == OUTDATED]
    folders = [path.as_posix() if len(path.parts) == 1 else path.parts[0] for path in paths]
    return {folder: folders.count(folder) for folder in sorted(folders) if folder not in QUICK}


def _under_way(model: Mapping[str, Any], code: str, manifest: Mapping[str, Any]) -> str | None:
    """Return the step and loss of the checkpoint that a training would resume from; None if there is none."""
    chosen = model["learning_rate"]
    if chosen and not Path(chosen).exists():
        return None
    settings = with_rate(model["settings"], chosen)
    folder = Folder.of(model["checkpoints"], training_key(settings, code, manifest, training_packages()))
    try:
        check(folder.resume)
        with safe_open(folder.resume, "np") as file:
            progress = json.loads(file.metadata()["progress"])
        loss = progress["history"][-1]["validation_loss"]
    except FileNotFoundError:
        other = "waiting; there is a checkpoint of another config, text or code, or of other packages"
        return other if folder.others() else None
    except (SafetensorError, OSError, ValueError, KeyError, IndexError, TypeError):
        return f"{folder.resume} is damaged"
    steps = model["settings"]["training"]["max_steps"]
    return f"step {progress['step']:,} of {steps:,}, validation loss {loss:.3f}"


def _count(count: Counter[str]) -> str:
    done, old, total = count[FINISHED], count[OUTDATED], count.total()
    if not total:
        return "-"
    text = "done" if done == total else f"{done} of {total}" if done else "waiting"
    return f"{text}, {old} outdated" if old else text
