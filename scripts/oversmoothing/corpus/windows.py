"""Evaluation windows: the stretches of held-out text on which every model is scored."""

import re
from bisect import bisect, insort

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import UserError

SCHEMA = pa.schema(
    [
        pa.field("window", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),  # of the prompt's first byte in the evaluation corpus
        pa.field("prompt", pa.binary(), nullable=False),
        pa.field("scored", pa.binary(), nullable=False),
    ]
)

# A sentence starts at the first byte that is no white space after a mark and at least one white space.
SENTENCE_START = re.compile(rb"[.!?]\s+(?=\S)")
# Random intervals fill a line to about three quarters before the next one hardly fits; past that many draws
# without a place the corpus counts as full.
DRAWS_WITHOUT_PLACE = 1_000


def draw_windows(data: np.ndarray, count: int, prompt: int, scored: int, seed: int) -> pa.Table:
    """Draw windows that each start a sentence and do not overlap (thesis, section 3).

    A random byte is drawn and the window starts with the next sentence, so that only the neighbourhood of the
    windows is read, however large the corpus. The first n windows are the same for every `count` >= n.

    Parameters
    ----------
    data : numpy.ndarray or memmap of uint8, shape (bytes,)
        The evaluation split.
    count : int
        Windows to draw; the thesis has 100.
    prompt, scored : int
        Bytes of the prompt and of the scored text that follows it; the thesis has 100 and 500.
    seed : int

    Returns
    -------
    pyarrow.Table
        With `SCHEMA`, one row per window in the order of ``window`` = 0, 1, ..., which is the order drawn.

    Raises
    ------
    UserError
        If a number makes no sense or the corpus has no room for that many windows.
    """
    for name, value, least in (
        ("count", count, 1),
        ("prompt", prompt, 1),
        ("scored", scored, 1),
        ("seed", seed, 0),
    ):
        if value < least:
            raise UserError(f"windows: {name} is {value}: write a number from {least} on")
    length = prompt + scored
    if len(data) < count * length:
        raise UserError(_full(len(data), 0, count, length))
    offsets = _draw_offsets(data, count, length, np.random.default_rng(seed))
    texts = [data[offset : offset + length].tobytes() for offset in offsets]
    columns = [range(count), offsets, [text[:prompt] for text in texts], [text[prompt:] for text in texts]]
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], SCHEMA
    )


def _draw_offsets(data: np.ndarray, count: int, length: int, random: np.random.Generator) -> list[int]:
    """Return `count` starts of sentences, at least `length` bytes from each other and from the end."""
    drawn: list[int] = []
    taken: list[int] = []  # the same, sorted
    misses = 0
    while len(drawn) < count:
        start = _sentence_from(data, int(random.integers(len(data) - length + 1)), len(data) - length)
        place = bisect(taken, start) if start is not None else 0
        if (
            start is None
            or (place > 0 and taken[place - 1] + length > start)
            or (place < len(taken) and start + length > taken[place])
        ):
            misses += 1
            if misses == DRAWS_WITHOUT_PLACE:
                raise UserError(_full(len(data), len(drawn), count, length))
            continue
        misses = 0
        drawn.append(start)
        insort(taken, start)
    return drawn


def _sentence_from(data: np.ndarray, position: int, last: int) -> int | None:
    """Return the first start of a sentence after `position` that is at most `last`."""
    match = SENTENCE_START.search(data, position, min(last + 1, len(data)))  # type: ignore[call-overload]
    return match.end() if match else None


def _full(size: int, found: int, count: int, length: int) -> str:
    return (
        f"windows: the evaluation corpus of {size:,} bytes has no room for {count:,} windows of {length:,} "
        f"bytes that each start a sentence and do not overlap (placed {found:,}): "
        "lower count, prompt or scored, or raise the evaluation share of the corpus"
    )
