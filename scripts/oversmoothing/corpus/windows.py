"""Evaluation windows: the passages of held-out text on which every model is scored."""

import re
from bisect import bisect, insort
from collections.abc import Iterator

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

# A sentence starts at the first non-space byte after a punctuation mark and at least one white space.
SENTENCE_START = re.compile(rb"[.!?]\s+(?=\S)")
# After this many failed draws in a row, the corpus is searched for the remaining places.
DRAWS_WITHOUT_PLACE = 200


def draw_windows(data: np.ndarray, count: int, prompt: int, scored: int, seed: int) -> pa.Table:
    """Draw windows that start with a sentence and do not overlap (thesis, section 3).

    A random byte is drawn and the window starts at the next sentence, so only the neighbourhood of the windows is
    read, unless the corpus is nearly full. The first n windows are the same for every `count` >= n.

    Parameters
    ----------
    data : numpy.ndarray or memmap of uint8, shape (bytes,)
        The evaluation split.
    count : int
        Number of windows; 100 in the thesis.
    prompt, scored : int
        Length of the prompt and of the scored text after it in bytes; 100 and 500 in the thesis.
    seed : int

    Returns
    -------
    pyarrow.Table
        With `SCHEMA`, one row per window in the order drawn: ``window`` = 0, 1, ...

    Raises
    ------
    UserError
        If a number is out of range or the corpus has no room for that many windows.
    """
    for name, value, least in (
        ("count", count, 1),
        ("prompt", prompt, 1),
        ("scored", scored, 1),
        ("seed", seed, 0),
    ):
        if value < least:
            raise UserError(f"windows: {name} is {value}: write a number of at least {least}")
    length = prompt + scored
    if len(data) < count * length:
        raise UserError(_full(len(data), 0, count, length))
    offsets = _draw_offsets(data, count, length, np.random.default_rng(seed))
    texts = [data[offset : offset + length].tobytes() for offset in offsets]
    columns = [range(count), offsets, [text[:prompt] for text in texts], [text[prompt:] for text in texts]]
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], SCHEMA)


def _draw_offsets(data: np.ndarray, count: int, length: int, random: np.random.Generator) -> list[int]:
    """Draw `count` starts of sentences, at least `length` bytes from each other and from the end."""
    last = len(data) - length
    drawn: list[int] = []
    taken: list[int] = []  # the same, sorted
    misses = 0
    while len(drawn) < count:
        start = next(_sentences(data, int(random.integers(last + 1)), last), None)
        if start is None or not _fits(start, taken, length):
            misses += 1
            if misses < DRAWS_WITHOUT_PLACE:
                continue
            places = [place for place in _sentences(data, 0, last) if _fits(place, taken, length)]
            if not places:
                raise UserError(_full(len(data), len(drawn), count, length))
            start = places[int(random.integers(len(places)))]
        misses = 0
        drawn.append(start)
        insort(taken, start)
    return drawn


def _sentences(data: np.ndarray, position: int, last: int) -> Iterator[int]:
    """Yield the starts of sentences after `position` that are at most `last`."""
    while match := SENTENCE_START.search(data, position, last + 1):  # type: ignore[call-overload]
        yield match.end()
        position = match.end()


def _fits(start: int, taken: list[int], length: int) -> bool:
    """Whether a window at `start` overlaps none of those at the sorted starts in `taken`."""
    place = bisect(taken, start)
    before = place == 0 or taken[place - 1] + length <= start
    return before and (place == len(taken) or start + length <= taken[place])


def _full(size: int, found: int, count: int, length: int) -> str:
    return (
        f"windows: the evaluation corpus of {size:,} bytes has no room for {count:,} windows of {length:,} "
        f"bytes that each start a sentence and do not overlap (placed {found:,}): "
        "lower count, prompt or scored, or raise the evaluation share of the corpus"
    )
