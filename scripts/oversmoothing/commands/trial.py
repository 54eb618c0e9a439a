"""Two models on a few passages before they are compared: how long the rest takes here, and how large a KL is noise."""

from argparse import Namespace
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba.core.event import Listener, install_listener
from scipy.special import log_softmax

from oversmoothing.bat import DELTA
from oversmoothing.bat.basis import Basis
from oversmoothing.bat.basis import prepare as bat_basis
from oversmoothing.bat.reject import LARGEST_DENSE, reject_set
from oversmoothing.commands.two_models import Pair
from oversmoothing.data.tokens.vocabulary import read_vocabulary
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
LONG = 10.0  # seconds; what takes less is timed a second time, when its data are in memory


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


def trial(asked: Namespace, pair: Pair) -> Trial:
    """Run both models over the first windows; time TBAT and the forced part unless the model's logits are capped."""
    decodings = pair.config["decodings"]
    windows = read_windows(pair.results / "windows.parquet").slice(0, PASSAGES)
    passages = len(windows)
    windows = windows.take(np.arange(PASSAGES) % passages)  # several at a time, however few there are
    vocabulary = read_vocabulary(pair.results / "tokens/vocabulary.parquet")
    compute = setup(asked.device, {"precision": asked.precision, "threads": 1})  # as the jobs do
    exact = Compute(compute.device, "float32")
    truth = load_token_lm(pair.folders[1], asked.truth, vocabulary, asked.bos, *compute)
    seconds, of_truth = _run(truth, windows, len(windows), compute.precision)
    del truth
    p = distributions(_softmax(of_truth[0][:1]), len(vocabulary))
    load = partial(load_token_lm, pair.folders[0], asked.model, vocabulary, asked.bos)
    loaded = load(*compute)
    passed, used = _run(loaded, windows, len(windows), compute.precision)
    first = WindowLogits(0, used[0], {"truth": of_truth[0]})
    decoders = {decoding_name(entry): decoder(entry) for entry in decodings}
    scores = _timed(lambda: score_window(first, decoders, OF_DISTRIBUTIONS, TAU))
    weights, bias = loaded.head.weight.cpu().numpy(), loaded.head.bias
    if compute.precision != exact.precision:
        del loaded
        loaded = load(*exact)
    alone = run_windows(loaded, windows, 1, exact.precision)
    nats = np.concatenate([divergence(_softmax(a.logits), _log_softmax(b)) for a, b in zip(alone, used, strict=True)])
    log_q = _log_softmax(used[0][:1])
    tbat = forced = None
    if pair.cap is None:
        use_threads(asked.cores)
        basis = bat_basis(weights)
        tbat = _rejected(basis, np.exp(log_q), decodings, pair.config["metrics"]["tbat"]["mass_tolerance"])
        head = prepare(weights, None if bias is None else bias.cpu().numpy())
        forced = _timed(lambda: project_on(head, p, log_q))
    both = (seconds + passed) / len(windows)
    of_noise = float(nats.mean()), float(nats.max())
    return Trial(len(vocabulary), passages, compute.precision, *of_noise, both, scores, tbat, forced)


def _run(model: TokenModel, windows: pa.Table, batch: int, precision: str) -> tuple[float, list[np.ndarray]]:
    """Return how many seconds a model takes for windows, and their logits, each (s, v)."""
    deque(run_windows(model, windows.slice(0, 1), 1, precision), 0)  # reads weights from the disk, once
    begun = perf_counter()
    logits = [state.logits for state in run_windows(model, windows, batch, precision)]
    return perf_counter() - begun, logits


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
    """Return how many seconds a call takes, without what numba takes to compile its code."""
    for _ in range(2):
        with install_listener("numba:compile", _Compiling()) as compiling:
            begun = perf_counter()
            call()
            seconds = perf_counter() - begun - compiling.seconds
        if seconds > LONG:
            break
    return seconds


class _Compiling(Listener):
    """The seconds that numba compiles, where one function compiles another."""

    def __init__(self) -> None:
        self.seconds, self._begun, self._within = 0.0, 0.0, 0

    def on_start(self, _: object) -> None:
        if not self._within:
            self._begun = perf_counter()
        self._within += 1

    def on_end(self, _: object) -> None:
        self._within -= 1
        if not self._within:
            self.seconds += perf_counter() - self._begun


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    return log_softmax(logits.astype(np.float64), axis=1)


def _softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(_log_softmax(logits))
