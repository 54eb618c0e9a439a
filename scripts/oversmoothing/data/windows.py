"""Evaluation windows: the passages of held-out text on which every model is scored."""

import re
from bisect import bisect, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table

SCHEMA = pa.schema(
    [
        pa.field("window", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),  # of the prompt's first byte in the evaluation corpus
        *(pa.field(name, pa.binary(), nullable=False) for name in ("prompt", "scored")),
    ]
)
# Of windows that were cut in tokens rather than bytes; `prompt` and `scored` are then the text of these.
TOKENS = [pa.field(name, pa.list_(pa.int32()), nullable=False) for name in ("prompt_tokens", "scored_tokens")]

# A sentence starts at the first non-space byte after a punctuation mark and at least one white space.
SENTENCE_START = re.compile(rb"[.!?]\s+(?=\S)")
# After this many failed draws in a row, the corpus is searched for the remaining places.
DRAWS_WITHOUT_PLACE = 200


@dataclass(frozen=True)
class Passage:
    """A stretch of a text from some offset on: where it ends, and what the columns after ``offset`` hold of it."""

    end: int
    columns: tuple[bytes | np.ndarray, ...]


# The passage from an offset of a text on; None where the text ends too early for one.
Cut = Callable[[int], Passage | None]


def draw_windows(data: np.ndarray, count: int, prompt: int, scored: int, seed: int, cut: Cut | None = None) -> pa.Table:
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
        Length of the prompt and of the scored text after it; 100 and 500 bytes in the thesis.
    cut : callable, optional
        For windows of tokens (`oversmoothing.data.tokens.text.passages`), of which each has a byte at least.

    Returns
    -------
    pyarrow.Table
        With `SCHEMA`, and with `cut` also `TOKENS`; one row per window in the order drawn: ``window`` = 0, 1, ...
    """
    for name, value, least in (("count", count, 1), ("prompt", prompt, 1), ("scored", scored, 1), ("seed", seed, 0)):
        if value < least:
            raise UserError(f"windows: {name} is {value}: write a number of at least {least}")
    length = prompt + scored
    unit, schema = ("bytes", SCHEMA) if cut is None else ("tokens", pa.schema([*SCHEMA, *TOKENS]))
    drawn: list[tuple[int, Passage]] = []
    if len(data) >= count * length:
        drawn = _draw(data, count, length, cut or _passages(data, prompt, length), np.random.default_rng(seed))
    if len(drawn) < count:
        raise UserError(
            f"windows: the evaluation corpus of {len(data):,} bytes has no room for {count:,} windows of {length:,} "
            f"{unit} that each start a sentence and do not overlap (placed {len(drawn):,}): "
            "lower count, prompt or scored, or raise the evaluation share of the corpus"
        )
    columns = [range(count), *zip(*((start, *passage.columns) for start, passage in drawn), strict=True)]
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema)


def read_windows(path: str | Path) -> pa.Table:
    """Read the windows of a file, with the columns that `window_tokens` needs."""
    table = read_table(path)
    missing = {"window", "prompt", "scored"} - set(table.column_names)
    if missing:
        raise UserError(f"{path}: no column {min(missing)!r}; these are no windows")
    return table


def window_tokens(windows: pa.Table) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Tokens of each prompt and of each scored text, int64; they are its bytes where the windows were cut in bytes."""
    if TOKENS[0].name in windows.column_names:
        parts = ([np.array(tokens, np.int64) for tokens in windows[field.name].to_pylist()] for field in TOKENS)
    else:
        texts = (windows[name].to_pylist() for name in ("prompt", "scored"))
        parts = ([np.frombuffer(text, np.uint8).astype(np.int64) for text in column] for column in texts)
    prompts, scored = parts
    return prompts, scored


def read_texts(path: str | Path) -> list[str]:
    """Read the text of each window of a file, without a character that is cut at its end."""
    parts = (read_windows(path)[name].to_pylist() for name in ("prompt", "scored"))
    return [(prompt + scored).decode("utf-8", errors="ignore") for prompt, scored in zip(*parts, strict=True)]


def _passages(data: np.ndarray, prompt: int, length: int) -> Cut:
    """Cut passages of `length` bytes."""

    def cut(start: int) -> Passage:
        text = data[start : start + length].tobytes()
        return Passage(start + length, (text[:prompt], text[prompt:]))

    return cut


def _draw(
    data: np.ndarray, count: int, length: int, cut: Cut, random: np.random.Generator
) -> list[tuple[int, Passage]]:
    """Draw up to `count` passages that start with a sentence, `length` bytes or more before the end, apart."""
    last = len(data) - length
    drawn: list[tuple[int, Passage]] = []
    taken: list[tuple[int, int]] = []  # starts and ends, sorted
    misses = 0
    while len(drawn) < count:
        start = next(_sentences(data, int(random.integers(last + 1)), last), None)
        passage = None if start is None else _free(start, taken, cut)
        if start is None or passage is None:
            misses += 1
            if misses < DRAWS_WITHOUT_PLACE:
                continue
            places = [place for place in _sentences(data, 0, last) if _free(place, taken, cut)]
            if not places:
                break
            start = places[int(random.integers(len(places)))]
            passage = _free(start, taken, cut)
            assert passage
        misses = 0
        drawn.append((start, passage))
        insort(taken, (start, passage.end))
    return drawn


def _sentences(data: np.ndarray, position: int, last: int) -> Iterator[int]:
    """Yield the starts of sentences after `position` that are at most `last`."""
    while match := SENTENCE_START.search(data, position, last + 1):  # type: ignore[call-overload]
        yield match.end()
        position = match.end()


def _free(start: int, taken: list[tuple[int, int]], cut: Cut) -> Passage | None:
    """Passage from `start` on, if there is one that overlaps none of those in `taken`."""
    place = bisect(taken, (start, start))
    if place and taken[place - 1][1] > start:
        return None
    passage = cut(start)
    overlaps = passage is not None and place < len(taken) and passage.end > taken[place][0]
    return None if overlaps else passage
