"""Passages of a text, evenly spaced, the tokens of them that are predicted, and one model over them."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from oversmoothing.jobs import UserError
from oversmoothing.measures.summaries import RESAMPLES, SEED
from oversmoothing.models.device import autocast
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.numerics.statistics import WindowSums, summarise

PASSAGES = 8  # at least so many, unless another number is asked for or the text is too short,
LENGTH = 256  # each of so many tokens


class Passage(NamedTuple):
    """Tokens of a passage, int64 (n,), and the places, from 1, of those whose prediction is measured, int (k,)."""

    tokens: np.ndarray
    places: np.ndarray


def owners(passages: Sequence[Passage]) -> np.ndarray:
    """Return the passage, from 0, of each measured position, int (n,)."""
    return np.repeat(np.arange(len(passages)), [len(passage.places) for passage in passages])


def over_passages(values: np.ndarray, passage: np.ndarray) -> tuple[float, float | None, float | None]:
    """Return the mean of values (n,) and its 95 % interval over their passages, None with fewer than two."""
    mean = summarise(WindowSums.of(passage, values), RESAMPLES, SEED)
    low, high = (None if np.isnan(end) else float(end) for end in (mean.low, mean.high))
    return float(mean.mean), low, high


def shown(row: Mapping[str, Any], name: str, form: str) -> str:
    """Return a mean and its interval, if it has one, as text: "0.123 [0.101, 0.145]"."""
    interval = "" if row["low"] is None else f" [{row['low']:{form}}, {row['high']:{form}}]"
    return f"{row[name]:{form}}{interval}"


def passages(tokens: np.ndarray, block: int, count: int, name: str, least: int = PASSAGES) -> list[Passage]:
    """Divide `count` predictions evenly among passages that are evenly spaced over a text (n,), at least so many.

    All are of one length, at most `block` tokens, and none overlaps another; in each the first token is only read.
    """
    length = min(block, LENGTH, len(tokens))
    if length < 2:
        raise UserError(f"{name}: at least 2 tokens are needed to predict one, and it has {len(tokens)}")
    each = length - 1
    number = min(max(least, ceil(count / each)), len(tokens) // length)
    if count > number * each:
        raise UserError(
            f"{name}: it has {len(tokens)} tokens, of which {number * each} can be predicted; give a longer text, or "
            f"lower --positions {count} to {number * each}"
        )
    starts = np.linspace(0, len(tokens) - length, number).astype(int)
    owner, places = np.divmod(positions_of(number * each, count), each)
    divided = [Passage(tokens[start : start + length], places[owner == i] + 1) for i, start in enumerate(starts)]
    return [passage for passage in divided if len(passage.places)]


def entering(model: TokenModel, passages: Sequence[Passage], precision: str, shown_as: str) -> Iterator[Tensor]:
    """Yield what enters the head at the places of each passage, float32 (k, d)."""
    device = model.head.weight.device
    for passage in tqdm(passages, desc=shown_as, unit="passage", leave=False, disable=None):
        tokens = torch.from_numpy(passage.tokens).to(device)
        with autocast(device, precision):
            states = model.hidden(tokens[None])[1][0]
        yield states.float()[passage.places - 1]
