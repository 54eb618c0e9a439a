"""Measures of one snapshot of a model: loss, head, hidden states, and oversmoothing against the truths."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from oversmoothing.data.windows import window_tokens
from oversmoothing.jobs import UserError
from oversmoothing.models.head_gradient import best_approximation
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.models.logit_gradient import BATCH, LogitGradient
from oversmoothing.models.logits import POSITION_FIELDS, WindowStates, window_keys
from oversmoothing.models.model import GPT
from oversmoothing.models.predictor import head_matrix
from oversmoothing.numerics.geometry import Directions, singular_entropy
from oversmoothing.numerics.singular_values import effective_rank, singular_values
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import softmax
from studies.along_training.outliers import Dimensions

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


def measure(
    model: GPT,
    windows: pa.Table,
    truths: Mapping[str, str | Path],
    tau: float,
    batch: int,
    precision: str,
    backward_rank: int | None = None,
    reject: Callable[[WindowStates], np.ndarray] | None = None,
    divide: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Iterator[dict[str, object]]:
    """Yield the measures of a model over windows as rows of `MEASURES` without ``step``; only sums are kept.

    They are ``loss`` (nats per byte); ``singular_entropy`` (nats) and ``effective_rank`` of the head; ``anisotropy``,
    ``outlier_dimensions`` and ``largest_dimension`` (its share) of each block's output; ``head_input_anisotropy``;
    ``gradient_share``, ``gradient_cosine`` and ``gradient_rank`` (see `LogitGradient`), through the best approximation
    of the head of `backward_rank`; ``tbat``, if `reject` gives it of the bytes of a window, shape (n,); and per truth
    ``tto``, ``nsmd``, ``tv``, ``kl`` under pure decoding, and ``forced``, ``rest``, if `divide` gives these at some
    positions, shape (2, positions), from the logits of model and truth in a window. `truths` are files of logits over
    windows that begin with these; a `UserError` names one that was run over others or has another vocabulary.
    """
    head = _head(model)
    passed = model.head.weight if backward_rank is None else best_approximation(model.head.weight, backward_rank)
    gradient = LogitGradient(passed.detach().cpu())
    entered, loss, count, rejected = Directions(), 0.0, 0, 0.0
    sums = {name: np.zeros(len(AGAINST_TRUTHS)) for name in truths}
    divided: dict[str, list[np.ndarray]] = {name: [] for name in truths}
    groups = {name: logit_groups(path) for name, path in truths.items()}
    with _watch(model, len(window_tokens(windows.slice(0, 1))[0][0])) as layers:
        for state in run_windows(model, windows, batch, precision):
            predicted = softmax(state.logits)
            loss -= float(np.log(softmax(state.logits.astype(np.float64))[_target(state)]).sum())
            count += len(state.target)
            entered.add(state.post)
            gradient.add(torch.from_numpy(state.logits), torch.from_numpy(state.target.astype(np.int64)))
            rejected += float(reject(state).sum()) if reject else 0.0
            for name, path in truths.items():
                truth = _beside(state, next(groups[name], None), path)
                sums[name] += score(predicted, softmax(truth), [lambda p: p], AGAINST_TRUTHS, tau)[0].sum(
                    axis=1, dtype=np.float64
                )
                if divide:
                    divided[name].append(divide(state.logits, truth))
    yield _row("loss", loss / count, count)
    yield _row("singular_entropy", singular_entropy(head), min(head.shape))
    yield _row("effective_rank", effective_rank(head), min(head.shape))
    for layer, (directions, dimensions) in enumerate(layers, 1):
        yield _row("anisotropy", directions.anisotropy(), directions.count, layer=layer)
        yield _row("outlier_dimensions", dimensions.outliers(), dimensions.count, layer=layer)
        yield _row("largest_dimension", dimensions.largest(), dimensions.count, layer=layer)
    yield _row("head_input_anisotropy", entered.anisotropy(), entered.count)
    yield _row("gradient_share", gradient.share(), gradient.count)
    yield _row("gradient_cosine", gradient.cosine(), gradient.count)
    yield _row("gradient_rank", gradient.rank(), min(gradient.count, BATCH))
    if reject:
        yield _row("tbat", rejected / count, count)
    for name, totals in sums.items():
        for metric, total in zip(AGAINST_TRUTHS, totals, strict=True):
            yield _row(metric, total / count, count, truth=name)
        if divide:
            parts = np.concatenate(divided[name], axis=1)
            for part, values in zip(("forced", "rest"), parts, strict=True):
                yield _row(part, values.mean(), len(values), truth=name)


def head_spectrum(model: GPT) -> Iterator[dict[str, object]]:
    """Yield the head's singular values, in decreasing order, as rows of `SPECTRA` without ``step``."""
    for index, value in enumerate(singular_values(_head(model)), 1):
        yield {"index": index, "singular_value": float(value)}


@contextmanager
def _watch(model: GPT, prompt: int) -> Iterator[list[tuple[Directions, Dimensions]]]:
    """Accumulate every block's output, at the positions that predict a scored byte, while the model runs."""
    layers = [(Directions(), Dimensions()) for _ in model.blocks]

    def watcher(sums: tuple[Directions, Dimensions]):
        def add(block: torch.nn.Module, inputs: object, output: torch.Tensor) -> None:
            states = output[:, prompt - 1 :].float().flatten(0, 1).cpu().numpy()
            for accumulated in sums:
                accumulated.add(states)

        return add

    handles = [block.register_forward_hook(watcher(sums)) for block, sums in zip(model.blocks, layers, strict=True)]
    try:
        yield layers
    finally:
        for handle in handles:
            handle.remove()


def _head(model: GPT) -> np.ndarray:
    return head_matrix(model, "a snapshot").detach().float().cpu().numpy()


def _target(state: WindowStates) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(state.target)), state.target


def _beside(state: WindowStates, group: tuple[pa.RecordBatch, np.ndarray] | None, path: str | Path) -> np.ndarray:
    """Return a truth's logits of the same window."""
    keys = zip(POSITION_FIELDS, window_keys(state.window, state.target), strict=True)
    if group is None or any(not group[0][name].equals(key) for (name, _), key in keys):
        raise UserError(f"{path}: other windows than those of the config; delete it and run again")
    logits = group[1]
    if logits.shape != state.logits.shape:
        raise UserError(
            f"{path}: a vocabulary of {logits.shape[1]}, but the model has {state.logits.shape[1]}; "
            "model and truth must have the same tokens"
        )
    return logits


def _row(name: str, value: float, n: int, layer: int | None = None, truth: str | None = None) -> dict[str, object]:
    return {"measure": name, "layer": layer, "truth": truth, "value": float(value), "n": n}
