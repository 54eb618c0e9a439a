"""From a text to the contexts in which a model of any tokenizer reads it; little of it is in memory at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

PIECE = 1 << 16  # bytes tokenised at once
SPACE = b" "


def beginning(data: np.ndarray, most: int) -> np.ndarray:
    """Take the first bytes of a text in UTF-8, at most `most`, and no part of a character.

    Parameters
    ----------
    data : uint8 array, shape (bytes,)
    most : int
    """
    return data[: _whole(data, min(most, len(data)))]


def prefix(tokenizer: Any) -> list[int]:
    """Return what a tokenizer puts before every text: its beginning-of-sentence token, or nothing."""
    marked = tokenizer("", add_special_tokens=True)["input_ids"]
    return marked[:1] if marked and marked[0] == tokenizer.bos_token_id else []


def contexts(tokenizer: Any, data: np.ndarray, length: int) -> Iterator[list[int]]:
    """Yield stretches of the text's tokens; each begins with the last token of the one before.

    So every token but the text's first is predicted exactly once. The text is tokenised in pieces that end before a
    space, where byte-pair tokens end anyway.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerFast
    data : uint8 array, shape (bytes,)
        UTF-8.
    length : int
        Tokens of each, at least 2; the last one may be shorter.
    """
    kept: list[int] = []
    for piece in _pieces(data):
        kept += _encode(tokenizer, piece)["input_ids"]
        while len(kept) >= length:
            yield kept[:length]
            kept = kept[length - 1 :]
    if len(kept) > 1:
        yield kept


def first_token_bytes(tokenizer: Any, data: np.ndarray) -> int:
    """Return the bytes that the first token of a text stands for: the only ones that nothing predicts."""
    text = next(_pieces(data))
    offsets: Sequence[tuple[int, int]] = _encode(tokenizer, text, return_offsets_mapping=True)["offset_mapping"]
    return len(text[: offsets[0][1]].encode())


def _encode(tokenizer: Any, text: str, **options: bool) -> Any:
    """Tokenise a text as such: no mark of its beginning, and no special token where the text spells one."""
    return tokenizer(text, add_special_tokens=False, split_special_tokens=True, verbose=False, **options)


def _pieces(data: np.ndarray) -> Iterator[str]:
    """Cut a text before spaces; where there is none, between characters."""
    start = 0
    while start < len(data):
        end = min(start + PIECE, len(data))
        if end < len(data):
            space = data[start:end].tobytes().rfind(SPACE)
            end = start + space if space > 0 else max(_whole(data, end), start + 1)
        yield data[start:end].tobytes().decode("utf-8", errors="ignore")
        start = end


def _whole(data: np.ndarray, end: int) -> int:
    """Move an end back to where a character ends."""
    while 0 < end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return end
