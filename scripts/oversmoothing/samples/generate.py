"""Continuations of prompts: token by token (a byte, in a byte-level model) under a decoding, many at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from oversmoothing.data.byte_names import Decode
from oversmoothing.jobs import UserError
from oversmoothing.models.device import autocast
from oversmoothing.models.predictor import Predictor
from oversmoothing.samples.draws import choose, draws_for
from oversmoothing.samples.kv_cache import NOT_FINITE, remember
from oversmoothing.scores.catalogue.decoders import method, names, sampling_module
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import Decoder

COLUMNS = {"window": pa.int32(), "prompt": pa.binary(), "continuation": pa.binary()}
SAMPLES = pa.schema([pa.field(name, kind, nullable=False) for name, kind in COLUMNS.items()])

Progress = Callable[[int], object]
Tokens = bytes | np.ndarray | Sequence[int]


# On a CPU, texts whose keys and values together exceed its cache wait for memory at each byte: a quarter of the time at
# two layers of width 288. Smaller batches are faster, until the weights are read for too few texts.
CACHE_BYTES = 72 * 2**20
FEWEST = 25


def generate(
    model: Predictor,
    windows: Sequence[int],
    prompts: Sequence[Tokens],
    length: int,
    decoding: Mapping[str, Any],
    seed: int,
    batch: int,
    precision: str = "float32",
    progress: Progress | None = None,
    decode: Decode = bytes,
) -> Iterator[pa.RecordBatch]:
    """Yield continuations of prompts by `length` tokens each, with schema `SAMPLES`, in the order of the prompts.

    Prompts are tokens, for a byte-level model bytes, and `decode` turns tokens into text. `windows` identifies each
    prompt and determines its random numbers (`draws.uniforms`). Only neighbours of the same length share a batch, of at
    most `batch` texts. `decoding` is an entry of the config's lists. `precision` is that of the blocks; the head is
    float32. `progress` is called with the number of new tokens. A `UserError` names what is wrong with a prompt, the
    decoding or the logits.
    """
    _check(prompts, length, model.config.block)
    device = model.head.weight.device
    decoded = decoder_of(decoding, model)
    for start, end in _batches(prompts, lambda time: _at_a_time(model, batch, time + length)):
        tokens = [np.array(list(prompt), np.int64) for prompt in prompts[start:end]]
        inputs = torch.from_numpy(np.stack(tokens)).to(device)
        # Around the whole loop rather than each step, so that weights are cast once.
        with autocast(device, precision):
            draws = draws_for(seed, windows[start:end], length, device)
            grown = sample(model, inputs, draws, decoded, precision, progress)
        texts = [[decode(row.tolist()) for row in rows] for rows in (tokens, grown.cpu().numpy())]
        yield pa.record_batch([pa.array(windows[start:end], pa.int32()), *texts], schema=SAMPLES)


@torch.inference_mode()
def sample(
    model: Predictor,
    prompts: Tensor,
    draws: Tensor,
    decoded: Decoder,
    precision: str = "float32",
    progress: Progress | None = None,
) -> Tensor:
    """Continue prompts, int64 (n, time), token by token; return the new tokens, int64 (n, length).

    `draws`, float64 (length, n), has the uniform number behind each token, which is drawn from what the map `decoded`
    makes of the model's distributions (n, v).
    """
    length, n = draws.shape
    cache = remember(model, n, prompts.shape[1] + length - 1, precision)
    texts = prompts.new_empty((length, n))
    finite = torch.ones((), dtype=torch.bool, device=prompts.device)
    for j in range(length):
        logits = cache.feed(texts[j - 1, :, None] if j else prompts)
        finite &= logits.isfinite().all()
        texts[j] = choose(decoded(logits.softmax(dim=-1)), draws[j])
        if progress:
            progress(n)
    if not finite:
        raise UserError(NOT_FINITE)
    return texts.T


def decoder_of(decoding: Mapping[str, Any], model: Predictor) -> Decoder:
    """Return the map of a decoding; that of a method that needs the model is in the module of its name beside this."""
    name = decoding.get("name")
    if name in names() and method(name).function is None:
        of_model: Decoder = sampling_module(name).decoder_of(decoding, model)
        return of_model
    return decoder(decoding, model.config.vocabulary)


def _check(prompts: Sequence[Tokens], length: int, block: int) -> None:
    if length < 1:
        raise UserError(f"samples: {length} bytes or tokens to sample; ask for at least 1")
    for i, prompt in enumerate(prompts):
        if not len(prompt):
            raise UserError(f"samples: prompt {i} is empty; a prompt needs at least one byte or token")
        if len(prompt) + length > block:
            raise UserError(
                f"samples: prompt {i} of {len(prompt)} bytes or tokens and {length} sampled ones do not fit into the "
                f"model's block of {block}; shorten the prompt (windows.prompt) or the sample (windows.scored)"
            )


def _batches(prompts: Sequence[Tokens], at_a_time: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of prompts of equal length, each run split into as few, equal ranges as `at_a_time` allows."""
    start = 0
    for time, group in groupby(map(len, prompts)):
        n = len(list(group))
        parts = -(-n // max(1, at_a_time(time)))
        yield from ((start + n * i // parts, start + n * (i + 1) // parts) for i in range(parts))
        start += n


def _at_a_time(model: Predictor, batch: int, length: int) -> int:
    """Return how many texts of `length` to run in one forward pass."""
    if model.head.weight.device.type != "cpu":
        return batch
    return min(batch, max(FEWEST, CACHE_BYTES // (8 * model.config.layers * model.config.width * length)))
