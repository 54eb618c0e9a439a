"""Two models on a few passages before they are compared: how long the rest takes here, and how large a KL is noise."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.special import log_softmax

from oversmoothing.bat import DELTA
from oversmoothing.bat.basis import Basis
from oversmoothing.bat.basis import prepare as bat_basis
from oversmoothing.bat.reject import LARGEST_DENSE, reject_set
from oversmoothing.data.tokens.vocabulary import AUTO, Vocabulary, read_vocabulary
from oversmoothing.data.windows import read_windows
from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.head import prepare
from oversmoothing.forced.projection import project_on
from oversmoothing.models.device import Compute, setup
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import WindowLogits
from oversmoothing.models.truths.load import load_token_lm
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.numerics.distributions import distributions
from oversmoothing.scores.catalogue.metrics import OF_DISTRIBUTIONS, TAU
from oversmoothing.scores.decoding import decoder, decoding_name
from oversmoothing.scores.metrics import score_window

PASSAGES = 4
LONG = 10.0  # seconds; what takes less is timed a second time, since the first may compile code


class Model(NamedTuple):
    """A model's folder, its name in messages, and the id before each text."""

    folder: Path
    name: str
    bos: int | str | None = AUTO


class Trial(NamedTuple):
    """Seconds of a `passage` in both models and of its `scores`; of a position in TBAT and in what the head forces.

    `noise` and `largest` are the mean and the largest KL, in nats, of the model beside itself: one passage at a time in
    float32, and several at a time in the `precision` of the comparison.
    """

    tokens: int
    passages: int
    precision: str
    noise: float
    largest: float
    passage: float
    scores: float
    tbat: float | None
    forced: float | None


def trial(
    model: Model,
    truth: Model,
    results: Path,
    config: Mapping[str, Any],
    device: str,
    precision: str,
    cores: int,
    linear: bool,
) -> Trial:
    """Run both models over the first windows of `results`; time TBAT and the forced part if the head is `linear`.

    Decodings, and the tolerance of TBAT, are those of the config of the comparison.
    """
    decodings = config["decodings"]
    windows = read_windows(results / "windows.parquet").slice(0, PASSAGES)
    passages = len(windows)
    windows = windows.take(np.arange(PASSAGES) % passages)  # several at a time, however few there are
    vocabulary = read_vocabulary(results / "tokens/vocabulary.parquet")
    compute = setup(device, {"precision": precision, "threads": 1})  # as the jobs do
    exact = Compute(compute.device, "float32")
    seconds, of_truth = _run(_loaded(truth, vocabulary, compute), windows, len(windows), compute.precision)
    p = distributions(_softmax(of_truth[0][:1]), len(vocabulary))
    loaded = _loaded(model, vocabulary, compute)
    passed, used = _run(loaded, windows, len(windows), compute.precision)
    scores = _scored(WindowLogits(0, used[0], {"truth": of_truth[0]}), decodings)
    weights, bias = loaded.head.weight.cpu().numpy(), loaded.head.bias
    if compute.precision != exact.precision:
        del loaded
        loaded = _loaded(model, vocabulary, exact)
    alone = run_windows(loaded, windows, 1, exact.precision)
    nats = np.concatenate([divergence(_softmax(a.logits), _log_softmax(b)) for a, b in zip(alone, used, strict=True)])
    log_q = _log_softmax(used[0][:1])
    tbat = forced = None
    if linear:
        use_threads(cores)
        basis = bat_basis(weights)
        tbat = _rejected(basis, np.exp(log_q), decodings, config["metrics"]["tbat"]["mass_tolerance"])
        head = prepare(weights, None if bias is None else bias.cpu().numpy())
        forced = _timed(lambda: project_on(head, p, log_q))
    both = (seconds + passed) / len(windows)
    of_noise = float(nats.mean()), float(nats.max())
    return Trial(len(vocabulary), passages, compute.precision, *of_noise, both, scores, tbat, forced)


def _loaded(model: Model, vocabulary: Vocabulary, compute: Compute) -> TokenModel:
    return load_token_lm(model.folder, model.name, vocabulary, model.bos, *compute)


def _run(model: TokenModel, windows: pa.Table, batch: int, precision: str) -> tuple[float, list[np.ndarray]]:
    """Return how many seconds a model takes for windows, and their logits, each (s, v)."""
    begun = perf_counter()
    logits = [state.logits for state in run_windows(model, windows, batch, precision)]
    return perf_counter() - begun, logits


def _scored(window: WindowLogits, decodings: Sequence[Mapping[str, Any]]) -> float:
    """Return how many seconds the scores of a window take."""
    decoders = {decoding_name(entry): decoder(entry) for entry in decodings}
    return _timed(lambda: score_window(window, decoders, OF_DISTRIBUTIONS, TAU))


def _rejected(basis: Basis, p: np.ndarray, decodings: Sequence[Mapping[str, Any]], tolerance: float) -> float:
    """Return how many seconds TBAT of a position (1, v) takes in all decodings; those of many tokens are alike."""
    seconds, of_many = 0.0, None
    for entry in decodings:
        decoded = decoder(entry)(p)
        if many := int((decoded > 0).sum()) > LARGEST_DENSE:
            seconds += of_many or 0.0
        if not many or of_many is None:
            seconds += (took := _timed(partial(reject_set, basis, decoded, DELTA, tolerance)))
            of_many = took if many else of_many
    return seconds


def _timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    for _ in range(2):
        begun = perf_counter()
        call()
        if (seconds := perf_counter() - begun) > LONG:
            break
    return seconds


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    return log_softmax(logits.astype(np.float64), axis=1)


def _softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(_log_softmax(logits))
