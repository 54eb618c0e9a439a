"""Passages of a text, evenly spaced, and the tokens of them that are predicted."""

import codecs
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.numerics.spaced_positions import positions_of

READ = 1 << 20  # bytes of a file, its first; the tokenizer needs a hundred times as much memory
PASSAGES = 8  # at least so many, unless another number is asked for or the text is too short,
LENGTH = 256  # each of so many tokens
RESAMPLES, SEED = 2000, 1337  # of whole passages, for intervals; as `statistics` of the default config


class Passage(NamedTuple):
    """Tokens of a passage, int64 (n,), and the places, from 1, of those whose prediction is measured, int (k,)."""

    tokens: np.ndarray
    places: np.ndarray


def read_text(path: str | Path) -> str:
    """Return the first `READ` bytes of a UTF-8 text; a `UserError` if there is no such file or it is another format."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            data, more = file.read(READ), bool(file.read(1))
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=not more)
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}: {error.reason}); convert it first") from error
    except OSError as error:
        raise UserError(f"{path}: it cannot be read ({error.strerror or error})") from error


def owners(passages: Sequence[Passage]) -> np.ndarray:
    """Return the passage, from 0, of each measured position, int (n,)."""
    return np.repeat(np.arange(len(passages)), [len(passage.places) for passage in passages])


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
    owners, places = np.divmod(positions_of(number * each, count), each)
    found = [Passage(tokens[start : start + length], places[owners == i] + 1) for i, start in enumerate(starts)]
    return [passage for passage in found if len(passage.places)]
