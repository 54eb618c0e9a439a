"""Continuations of prompts: token by token (a byte, in a byte-level model) under a decoding, many at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from oversmoothing.data.byte_names import Decode
from oversmoothing.jobs import UserError
from oversmoothing.models.device import autocast
from oversmoothing.models.predictor import Predictor
from oversmoothing.samples.cache import NOT_FINITE, remember
from oversmoothing.samples.draws import choose, draws_for
from oversmoothing.scores.catalogue.decoders import method, names, sampler_module
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import Decoder

SAMPLES = pa.schema(
    [
        pa.field("window", pa.int32(), nullable=False),
        pa.field("prompt", pa.binary(), nullable=False),
        pa.field("continuation", pa.binary(), nullable=False),
    ]
)

# A choice of the next token of each text: from the model's distributions (n, v), one uniform number per text (n,), and
# the state returned by the previous step (None at first), to token ids (n,) and the next state.
Step = Callable[[Tensor, Tensor, Any], tuple[Tensor, Any]]
Progress = Callable[[int], object]
Tokens = bytes | np.ndarray | Sequence[int]


class Sampler(NamedTuple):
    """A way to continue prompts with a model.

    `grow` takes a model, prompts (n, time), draws (length, n), the precision and a callable for progress, and returns
    the new tokens (n, length), as `sample` with a step.
    """

    grow: Callable[[Predictor, Tensor, Tensor, str, Progress | None], Tensor]
    texts: int = 1  # that it reads for each prompt


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
    prompt and determines its random numbers (`draws.uniforms`). Prompts may have any lengths; only neighbours of the
    same length share a batch, of at most `batch` texts; beam search uses `width` of them per prompt. `decoding` is an
    entry of the config's lists, such as ``{name: top-p, p: 0.9}``. `precision` is that of the blocks; the head is
    always float32. `progress` is called repeatedly with the number of new tokens.

    A `UserError` is raised if a prompt is empty or exceeds the model's block together with `length` bytes, the decoding
    is unknown or out of range, or the logits are not finite.
    """
    _check(prompts, length, model.config.block)
    device = model.head.weight.device
    sampler = sampler_of(decoding, model)
    for start, end in _batches(prompts, lambda time: _at_a_time(model, batch, time + length) // sampler.texts):
        tokens = [np.array(list(prompt), np.int64) for prompt in prompts[start:end]]
        inputs = torch.from_numpy(np.stack(tokens)).to(device)
        # Around the whole loop rather than each step, so that weights are cast once.
        with autocast(device, precision):
            draws = draws_for(seed, windows[start:end], length, device)
            grown = sampler.grow(model, inputs, draws, precision, progress)
        texts = [[decode(row.tolist()) for row in rows] for rows in (tokens, grown.cpu().numpy())]
        yield pa.record_batch([pa.array(windows[start:end], pa.int32()), *texts], schema=SAMPLES)


@torch.inference_mode()
def sample(
    model: Predictor,
    prompts: Tensor,
    draws: Tensor,
    step: Step,
    precision: str = "float32",
    progress: Progress | None = None,
) -> Tensor:
    """Continue prompts, int64 (n, time), token by token; return the new tokens, int64 (n, length).

    `draws`, float64 (length, n), has the uniform number behind each token; `step` maps distributions (n, v), draws (n,)
    and a state to tokens (n,) and the next state. A `UserError` is raised if the logits are not finite.
    """
    length, n = draws.shape
    cache = remember(model, n, prompts.shape[1] + length - 1, precision)
    texts = prompts.new_empty((length, n))
    finite = torch.ones((), dtype=torch.bool, device=prompts.device)
    state = None
    for j in range(length):
        logits = cache.feed(texts[j - 1, :, None] if j else prompts)
        finite &= logits.isfinite().all()
        texts[j], state = step(logits.softmax(dim=-1), draws[j], state)
        if progress:
            progress(n)
    if not finite:
        raise UserError(NOT_FINITE)
    return texts.T


def sampler_of(decoding: Mapping[str, Any], model: Predictor) -> Sampler:
    """Return the sampler of a decoding; a `UserError` if it is unknown or out of range, or BAT's head is not finite.

    A method that maps no distributions is a module of that name beside this one, with a function `sampler`.
    """
    name = decoding.get("name")
    if name in names() and method(name).function is None:
        of_module: Sampler = sampler_module(name).sampler(decoding, model)
        return of_module
    return with_step(drawn_from(decoder(decoding, model.config.vocabulary)))


def with_step(step: Step) -> Sampler:
    """Return the sampler that takes a step per token."""

    def grow(model: Predictor, prompts: Tensor, draws: Tensor, precision: str, progress: Progress | None) -> Tensor:
        return sample(model, prompts, draws, step, precision, progress)

    return Sampler(grow)


def drawn_from(decode: Decoder) -> Step:
    """Return the stateless step that samples from a map's output."""

    def step(p: Tensor, u: Tensor, state: None) -> tuple[Tensor, None]:
        return choose(decode(p), u), state

    return step


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
