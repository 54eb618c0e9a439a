"""Both models over the same passages, batch by batch: what they predict at each position."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from oversmoothing.comparison.pair import Pair
from oversmoothing.data.tokens.vocabulary import Vocabulary
from oversmoothing.measures.entries.side_by_side import compared
from oversmoothing.measures.window import Window
from oversmoothing.models.byte_windows import readings
from oversmoothing.models.device import Compute
from oversmoothing.models.heads import ModelHead
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.truths.byte_view import ByteView, load_byte_view
from oversmoothing.models.truths.load import load_token_lm
from oversmoothing.models.truths.token_model import TokenModel

BATCH = 16  # passages of a forward pass, as in the workflow's config,
VALUES = 1 << 25  # or as many as have so many logits
TRIED = 4  # passages that show what of a KL is noise


class Noise(NamedTuple):
    """KL of a model beside itself, in nats: one passage at a time in float32, and several in its `precision`."""

    mean: float
    largest: float
    precision: str
    passages: int
    dp: float  # mean change in the probability of the token that came next


class Seen(NamedTuple):
    """A window as measures see it; over tokens also the states of both models, for files."""

    window: Window
    states: tuple[WindowStates, WindowStates] | None
    text: bytes  # that is scored


class OfTokens:
    """Two models over the tokens that they share."""

    def __init__(self, pair: Pair, compute: Compute) -> None:
        self.pair, self.compute = pair, compute
        self.vocabulary: Vocabulary = pair.tokens[1]
        self.sizes = np.array([len(text) for text in self.vocabulary.texts])
        self.model, self.truth = self._load(0, compute), self._load(1, compute)
        self.head = _head(self.model) if self.model.cap is None else None

    def noise(self, windows: pa.Table) -> Noise:
        """Run the model twice over the first passages, in the way of the comparison and as exactly as it can be."""
        passages = min(TRIED, len(windows))
        tried = windows.slice(0, passages).take(np.arange(TRIED) % passages)  # several at a time, however few
        exact = self.model
        if self.compute.precision != "float32":
            exact = self._load(0, Compute(self.compute.device, "float32"))
        both = zip(
            run_windows(exact, tried, 1, "float32"),
            run_windows(self.model, tried, TRIED, self.compute.precision),
            strict=True,
        )
        found = [compared(other.logits, one.logits, one.target) for one, other in both]
        nats, changes = (np.concatenate([of[name] for of in found]).astype(np.float64) for name in ("kl", "dp"))
        return Noise(
            float(nats.mean()), float(nats.max()), self.compute.precision, passages, float(abs(changes).mean())
        )

    def windows(self, windows: pa.Table) -> Iterator[Seen]:
        """Yield each window once both models have read it."""
        scored = self.pair.lengths[1]
        batch = max(1, min(BATCH, VALUES // (scored * len(self.vocabulary))))
        models = (run_windows(model, windows, batch, self.compute.precision) for model in (self.model, self.truth))
        for row, (of_model, of_truth) in enumerate(zip(*models, strict=True)):
            window = Window(
                of_model.window,
                len(windows),
                of_model.logits,
                of_model.target,
                of_truth.logits,
                self.head,
                self.sizes[of_model.target],
                of_model.special_mass,
                of_truth.special_mass,
            )
            yield Seen(window, (of_model, of_truth), windows["scored"][row].as_py())

    @property
    def heads(self) -> tuple[tuple[ModelHead, float | None], ...]:
        """Heads of model and truth, and the c of logits c tanh(z / c), if they are capped."""
        return tuple((_head(model), model.cap) for model in (self.model, self.truth))

    def _load(self, which: int, compute: Compute) -> TokenModel:
        settings = self.pair.settings
        name = (settings.model, settings.truth)[which]
        return load_token_lm(self.pair.folders[which], name, self.vocabulary, settings.bos, *compute)


class OfBytes:
    """Two models by their distributions of the next byte, whatever their tokens."""

    heads = None  # a distribution of bytes has none

    def __init__(self, pair: Pair, compute: Compute) -> None:
        settings = pair.settings
        of = {"bos": settings.bos, "temperature": 1.0}
        both = zip(pair.folders, (settings.model, settings.truth), strict=True)
        self.model, self.truth = (load_byte_view(folder, name, of, *compute) for folder, name in both)

    def noise(self, windows: pa.Table) -> None:
        """Return nothing: a byte view is not run in two ways."""

    def windows(self, windows: pa.Table) -> Iterator[Seen]:
        """Yield each window once both models have read it."""
        for reading in readings(windows):
            (model, dropped), (truth, beside) = (
                _bytes(view, reading.text, reading.start) for view in (self.model, self.truth)
            )
            targets = np.frombuffer(reading.scored, np.uint8).astype(np.int32)
            window = Window(reading.window, len(windows), model, targets, truth, dropped=dropped, beside=beside)
            yield Seen(window, None, reading.scored)


def open_stream(pair: Pair, compute: Compute) -> OfTokens | OfBytes:
    """Load both models of a pair."""
    return OfBytes(pair, compute) if pair.why else OfTokens(pair, compute)


def _head(model: TokenModel) -> ModelHead:
    """Return a model's head as arrays."""
    weights, bias = (
        None if of is None else of.detach().float().cpu().numpy() for of in (model.head.weight, model.head.bias)
    )
    return ModelHead(weights, bias=bias, alone=True)


def _bytes(view: ByteView, text: bytes, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Return log-probabilities of the next bytes, float32 (n, 256), and the probability dropped (n,)."""
    found = view.next_bytes(text, start)
    with np.errstate(divide="ignore"):  # a softmax takes -inf back to 0
        return np.log(found.probabilities).astype(np.float32), found.dropped.astype(np.float32)
