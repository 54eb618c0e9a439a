"""Loss, head spectrum, hidden-state geometry and oversmoothing of one model at each snapshot of its training."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from tqdm import tqdm

from oversmoothing.data.windows import read_windows, window_tokens
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.measures.entries.forced import forced
from oversmoothing.measures.window import Window
from oversmoothing.models.device import setup
from oversmoothing.models.head_gradient import best_approximation
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import beside_truths
from oversmoothing.models.model import GPT
from oversmoothing.models.predictor import head_matrix
from oversmoothing.models.weights import load_metadata, load_model
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.singular_values import singular_values
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.training.loop import snapshot_steps
from studies.along_training.sums import Sums, row, vectors

logger = logging.getLogger(__name__)

MEASURES = pa.schema(
    [
        ("step", pa.int32()),
        ("measure", pa.string()),
        ("layer", pa.int32()),  # from 1, the first block's output; null for other measures
        ("truth", pa.string()),  # null for measures without one
        ("value", pa.float64()),
        ("n", pa.int32()),  # number of scored bytes; for the head, of singular values
    ]
)
SPECTRA = pa.schema([("step", pa.int32()), ("index", pa.int32()), ("singular_value", pa.float64())])  # index from 1


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
            sigma = singular_values(head_matrix(model, "a snapshot").detach().float().cpu().numpy())
            found = measure(model, path, sigma, windows, truths, settings, precision)
            rows += [{"step": step, **one} for one in found]
            spectra += [{"step": step, "index": i, "singular_value": value} for i, value in enumerate(sigma, 1)]
        except ValueError as error:
            raise UserError(f"{path}: {error}; train the model again") from error
    made_by = provenance(settings, model=job.wildcards.model, precision=precision, device=device.type)
    write_table(job.output.measures, pa.Table.from_pylist(rows, schema=MEASURES), made_by)
    write_table(job.output.spectra, pa.Table.from_pylist(spectra, schema=SPECTRA), made_by)


def measure(
    model: GPT,
    weights: Path,
    sigma: np.ndarray,
    windows: pa.Table,
    truths: Mapping[str, str | Path],
    settings: Mapping[str, Any],
    precision: str,
) -> Iterator[dict[str, Any]]:
    """Yield the measures of a snapshot over windows as rows of `MEASURES` without ``step``.

    They are those of `Sums`, of a head of the singular values `sigma`, with the gradient through the head's best
    approximation of ``backward_rank``; and per truth the metrics under pure decoding, and the KL ``forced`` by the head
    and the ``rest``, at ``forced`` positions of each window. `truths` are files of logits over windows that begin with
    these.
    """
    rank, per_window = settings["backward_rank"], settings["forced"]
    passed = model.head.weight if rank is None else best_approximation(model.head.weight, rank)
    own = Sums(passed.detach().cpu(), dimensions=True)
    head = read_model_head(weights) if per_window else None
    sums = {name: np.zeros(len(AGAINST_TRUTHS)) for name in truths}
    divided: dict[str, list[np.ndarray]] = {name: [] for name in truths}
    prompt = len(window_tokens(windows.slice(0, 1))[0][0])

    def leave(layer: int, block: torch.nn.Module, given: tuple[torch.Tensor], output: torch.Tensor) -> None:
        own.leave(layer, vectors(output[:, prompt - 1 :]))

    with ExitStack() as hooks:
        for layer, block in enumerate(model.blocks, 1):
            hooks.enter_context(block.register_forward_hook(partial(leave, layer)))
        states = run_windows(model, windows, settings["batch"], precision)
        for state, beside in beside_truths(states, truths):
            q, exact = softmax(state.logits), softmax(state.logits.astype(np.float64))
            own.nats -= float(np.log(exact[np.arange(len(state.target)), state.target]).sum())
            own.count += len(state.target)
            own.entered.add(state.post)
            own.gradient.add(torch.from_numpy(state.logits), torch.from_numpy(state.target.astype(np.int64)))
            for name, truth in beside.items():
                scores = score(q, softmax(truth), [lambda p: p], AGAINST_TRUTHS, settings["tau"])[0]
                sums[name] += scores.sum(axis=1, dtype=np.float64)
                if head:
                    window = Window(state.window, len(windows), state.logits, state.target, truth, head)
                    found = forced(window, per_window, tau=None, norm_per_window=None)
                    divided[name].append(np.stack([found["forced"], found["rest"]]))
    yield from own.rows(sigma)
    for name, totals in sums.items():
        for metric, total in zip(AGAINST_TRUTHS, totals, strict=True):
            yield row(metric, total / own.count, own.count, truth=name)
        if per_window:
            for part, values in zip(("forced", "rest"), np.concatenate(divided[name], axis=1), strict=True):
                yield row(part, values.mean(), len(values), truth=name)


def snapshots(folder: str | Path, weights: str | Path, history: str | Path) -> dict[int, Path]:
    """Return the weights that a training kept, by step: its snapshots and its final weights.

    The history gives the number of steps, and so the snapshots to expect; a `UserError` names one that is missing.
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


if __name__ == "__main__":
    run(main)
