"""Loss, head spectrum, hidden-state geometry and oversmoothing of one model at each snapshot of its training."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.data.windows import read_windows
from oversmoothing.forced.divide import divide
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.weights import load_metadata, load_model
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.probabilities import softmax
from oversmoothing.scores.tbat import choose_basis, tbat
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.training.loop import snapshot_steps
from studies.along_training.snapshot import MEASURES, SPECTRA, head_spectrum, measure

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read snapshots, windows and the truths' logits; write one row per step and measure, and the head's spectra."""
    settings = job.params.settings
    device, precision = setup(job.params.device, settings)
    windows = read_windows(job.input.windows).slice(0, settings["windows"])
    truths = dict(zip(settings["truths"], job.input.truths, strict=True))
    kept = snapshots(job.input.snapshots, job.input.weights, job.input.history)
    logger.info("%d snapshots over %d windows on %s in %s", len(kept), len(windows), device, precision)
    use_threads(job.threads)
    rows, spectra = [], []
    for step, path in tqdm(kept.items(), desc=job.wildcards.model, unit="snapshot", disable=None):
        model = load_model(path, device)
        try:
            measures = measure(
                model, windows, truths, settings["tau"], settings["batch"], precision,
                settings["backward_rank"], rejecting(step, path, settings["tbat"]), dividing(path, settings["forced"]),
            )  # fmt: skip
            rows += [{"step": step, **row} for row in measures]
            spectra += [{"step": step, **row} for row in head_spectrum(model)]
        except ValueError as error:
            raise UserError(f"{path}: {error}; train the model again") from error
    made_by = provenance(settings, model=job.wildcards.model, precision=precision, device=device.type)
    write_table(job.output.measures, pa.Table.from_pylist(rows, schema=MEASURES), made_by)
    write_table(job.output.spectra, pa.Table.from_pylist(spectra, schema=SPECTRA), made_by)


def snapshots(folder: str | Path, weights: str | Path, history: str | Path) -> dict[int, Path]:
    """Return the weights that a training kept, by step: its snapshots and its final weights.

    The history gives the number of steps, and so the snapshots to expect. A `UserError` is raised if one is missing or
    a file's metadata has no step.
    """
    kept = sorted(Path(folder).glob("*.safetensors"))
    if not kept:
        raise UserError(f"{folder}: no snapshots; train the model again with `training.snapshots: true`")
    by_step = {}
    for path in [*kept, Path(weights)]:
        step = load_metadata(path).get("step", "")
        if not step.isdigit():
            raise UserError(f"{path}: no step in its metadata; train the model again")
        by_step[int(step)] = path
    last = read_table(history, ["step"])["step"][-1].as_py()
    if missing := sorted(snapshot_steps({"snapshots": True, "max_steps": last}) - set(by_step)):
        raise UserError(f"{folder}: the snapshot of step {missing[0]} is missing; delete the folder and run again")
    return dict(sorted(by_step.items()))


def rejecting(
    step: int, weights: Path, settings: Mapping[str, Any] | None
) -> Callable[[WindowStates], np.ndarray] | None:
    """Return what gives TBAT of a window's bytes under a snapshot's head; None without settings, or before its step."""
    if settings is None or step < settings["first_step"]:
        return None
    basis, tangent = choose_basis(weights, settings["condition"]), settings["condition"] == "tangent"

    def reject(state: WindowStates) -> np.ndarray:
        p = softmax(state.logits.astype(np.float64))
        post = state.post if tangent else None
        return tbat(basis, p, settings["delta"], settings["mass_tolerance"], str(weights), post).value

    return reject


def dividing(weights: Path, per_window: int | None) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """Return what gives KL forced by a snapshot's head, and the rest, at some bytes of a window; None for none."""
    if per_window is None:
        return None
    head = read_model_head(weights).prepared()

    def parts(logits: np.ndarray, truth: np.ndarray) -> np.ndarray:
        at = positions_of(len(logits), per_window)
        _, nearest, rest = divide(head, logits[at], softmax(truth[at].astype(np.float64)))
        return np.stack([nearest.forced, rest])

    return parts


if __name__ == "__main__":
    run(main)
