"""Evaluation windows: the passages of held-out text on which every model is scored, and where they may start."""

import logging
import re
from bisect import bisect, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table

logger = logging.getLogger(__name__)

# Characters of Unicode's Sentence_Terminal beyond ASCII, hexadecimal (version 14, up to ffff), Khmer's khan and the
# ellipsis. They end a sentence without white space behind them.
_TERMINAL = (
    "589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e 1735-1736 17d4-17d5 1803 1809 "
    "1944-1945 1aa8-1aab 1b5a-1b5b 1b5e-1b5f 1b7d-1b7e 1c3b-1c3c 1c7e-1c7f 2026 203c-203d 2047-2049 2e2e 2e3c "
    "2e53-2e54 3002 a4ff a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe52 "
    "fe56-fe57 ff01 ff0e ff1f ff61"
)
# What may stand between such an end and the next sentence: spaces, closing quotation marks and brackets.
_BETWEEN = "a0 bb 200b 2019 201d 3000 3009 300b 300d 300f 3011 3015 ff09 ff3d"


def _any(ranges: str) -> bytes:
    """Return the regular expression of any character in ranges of hexadecimal numbers.

    It matches UTF-8, by first bytes.
    """
    ends = ([int(end, 16) for end in part.split("-")] for part in ranges.split())
    characters = [chr(code).encode() for first, *last in ends for code in range(first, (last or [first])[0] + 1)]
    return b"(?=[" + bytes({each[0] for each in characters}) + b"])(?:" + b"|".join(characters) + b")"


SENTENCE, SENTENCE_OF_ANY_SCRIPT, LINE, CHARACTER = "sentence", "sentence of any script", "line", "character"
# In the order in which they are tried. A window starts where a match ends.
STARTS = {
    # The first non-space byte after a punctuation mark and at least one white space.
    SENTENCE: re.compile(rb"[.!?]\s+(?=\S)"),
    SENTENCE_OF_ANY_SCRIPT: re.compile(
        rb"(?:[.!?](?=\s)|" + _any(_TERMINAL) + rb")(?:\s|" + _any(_BETWEEN) + rb")*+(?=[^\s\x80-\xbf])"
    ),
    LINE: re.compile(rb"\n\s*(?=\S)"),
    CHARACTER: re.compile(rb"(?s).(?=[^\x80-\xbf])"),
}

SCHEMA = pa.schema(
    [
        pa.field("window", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),  # of the prompt's first byte in the evaluation corpus
        *(pa.field(name, pa.binary(), nullable=False) for name in ("prompt", "scored")),
    ]
)
# Of windows that were cut in tokens rather than bytes; `prompt` and `scored` are then the text of these.
TOKENS = [pa.field(name, pa.list_(pa.int32()), nullable=False) for name in ("prompt_tokens", "scored_tokens")]

STARTED = b"starts"  # key of the metadata that says which of `STARTS` windows have
# After this many failed draws in a row, the corpus is searched for the remaining places.
DRAWS_WITHOUT_PLACE = 200


@dataclass(frozen=True)
class Passage:
    """A stretch of a text from some offset on: where it ends, and what the columns after ``offset`` hold of it."""

    end: int
    columns: tuple[bytes | np.ndarray, ...]


# The passage from an offset of a text on; None where the text ends too early for one.
Cut = Callable[[int], Passage | None]


def draw_windows(
    data: np.ndarray,
    count: int,
    prompt: int,
    scored: int,
    seed: int,
    cut: Cut | None = None,
    starts: Iterable[str] = STARTS,
) -> pa.Table:
    """Draw windows that start with a sentence and do not overlap (thesis, section 3).

    A random byte is drawn and the window starts at the next sentence, so only the neighbourhood of the windows is
    read, unless the corpus is nearly full. In a text with too few sentences that end as in English, all windows start
    with sentences of any script, else with lines, else with any character (`STARTS`); the schema's metadata say which,
    under `STARTED`. The first n windows are the same for every `count` >= n that starts alike.

    `data`, uint8 (bytes,), is the evaluation split. The thesis has 100 windows, with a `prompt` of 100 bytes and 500
    bytes `scored` after it. For windows of tokens, `cut` is `oversmoothing.data.tokens.text.passages`. `starts` are
    those of `STARTS` that are tried. The table has `SCHEMA`, and with `cut` also `TOKENS`: a row per window in the
    order drawn, ``window`` = 0, 1, ...
    """
    length = prompt + scored

    def bytes_from(start: int) -> Passage:
        text = data[start : start + length].tobytes()
        return Passage(start + length, (text[:prompt], text[prompt:]))

    unit, schema = ("bytes", SCHEMA) if cut is None else ("tokens", pa.schema([*SCHEMA, *TOKENS]))
    most = len(data) // length
    placed: dict[str, int] = {}
    for kind in starts if count <= most else ():
        drawn = _draw(data, count, length, cut or bytes_from, np.random.default_rng(seed), kind)
        if len(drawn) == count:
            break
        placed[kind] = len(drawn)
        logger.warning("only %d of %d windows can start with a %s", len(drawn), count, kind)
    else:
        best = max(placed, key=placed.__getitem__, default="")
        fit = f"{placed[best]:,} fit, each at the start of a {best}" if best else f"at most {most:,} fit"
        raise UserError(
            f"windows: the evaluation split of {len(data):,} bytes is too short for {count:,} windows of {length:,} "
            f"{unit} that do not overlap ({fit}): lower windows.count, prompt or scored, or give "
            "the split more text (more files, or its share in corpus.splits)"
        )
    logger.info("each window starts with a %s", kind)
    schema = schema.with_metadata({STARTED: kind})
    columns = [range(count), *zip(*((offset, *passage.columns) for offset, passage in drawn), strict=True)]
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema)


def read_windows(path: str | Path) -> pa.Table:
    """Read the windows of a file, with the columns that `window_tokens` needs."""
    table = read_table(path)
    missing = {"window", "prompt", "scored"} - set(table.column_names)
    if missing:
        raise UserError(f"{path}: no column {min(missing)!r}; these are no windows")
    return table


def window_tokens(windows: pa.Table) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return tokens of each prompt and of each scored text, int64.

    They are its bytes where the windows were cut in bytes.
    """
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


def _draw(
    data: np.ndarray, count: int, length: int, cut: Cut, random: np.random.Generator, kind: str
) -> list[tuple[int, Passage]]:
    """Draw up to `count` passages with a start of some kind, `length` bytes or more before the end, apart."""
    last = len(data) - length
    barren = last + 1  # there is no start from here on
    drawn: list[tuple[int, Passage]] = []
    taken: list[tuple[int, int]] = []  # starts and ends, sorted
    places: list[int] = []  # where a passage was free when all starts were last looked through
    misses = 0
    while last >= 0 and len(drawn) < count:
        position = int(random.integers(last + 1))
        start = next(_starts(data, position, last, kind), None) if position < barren else None
        passage = None
        if start is None:
            barren = min(barren, position)
        else:
            passage = _free(start, taken, cut)
        if start is None or passage is None:
            misses += 1
            if misses < DRAWS_WITHOUT_PLACE:
                continue
            some = _gaps(data, length, taken) if kind == CHARACTER else places or _starts(data, 0, last, kind)
            places = [place for place in some if _free(place, taken, cut)]
            if not places:
                break
            start = places[int(random.integers(len(places)))]
            passage = _free(start, taken, cut)
            assert passage
        misses = 0
        drawn.append((start, passage))
        insort(taken, (start, passage.end))
    return drawn


def _starts(data: np.ndarray, position: int, last: int, kind: str) -> Iterator[int]:
    """Yield the starts of some kind after `position` that are at most `last`."""
    while match := STARTS[kind].search(data, position, last + 1):  # type: ignore[call-overload]
        yield match.end()
        position = match.end()


def _gaps(data: np.ndarray, length: int, taken: list[tuple[int, int]]) -> Iterator[int]:
    """Yield the first character of each gap of `length` bytes or more; a passage fits there if it does in the gap."""
    ends, starts = (1, *(end for _, end in taken)), (*(start for start, _ in taken), len(data))
    for end, start in zip(ends, starts, strict=True):
        if start - end >= length:
            yield from islice(_starts(data, end - 1, start - length, CHARACTER), 1)


def _free(start: int, taken: list[tuple[int, int]], cut: Cut) -> Passage | None:
    """Return the passage from `start` on, if there is one that overlaps none of those in `taken`."""
    place = bisect(taken, (start, start))
    if place and taken[place - 1][1] > start:
        return None
    passage = cut(start)
    overlaps = passage is not None and place < len(taken) and passage.end > taken[place][0]
    return None if overlaps else passage
