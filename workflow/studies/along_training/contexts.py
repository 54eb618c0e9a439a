"""Contexts of a text for a model with any tokenizer, in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

PIECE = 1 << 16  # bytes tokenised at once


def beginning(data: np.ndarray, most: int) -> np.ndarray:
    """Return the first bytes of a UTF-8 text, uint8 (at most `most`,), without a partial character."""
    return np.frombuffer(_whole(data[:most].tobytes()), np.uint8)


def prefix(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts before every text: its beginning-of-sentence token, or none."""
    marked = tokenizer("", add_special_tokens=True)["input_ids"]
    return marked[:1] if marked and marked[0] == tokenizer.bos_token_id else []


def contexts(tokenizer: Any, data: np.ndarray, length: int) -> Iterator[list[int]]:
    """Yield consecutive stretches of `length` tokens, at least 2, of a UTF-8 text; the last one may be shorter.

    Each stretch begins with the last token of the previous one, so every token except the text's first is predicted
    exactly once. The text is tokenised in pieces that end before a space, where byte-pair tokens end anyway.
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
    """Return the number of bytes in the first token of a text, which is never predicted."""
    text = next(_pieces(data))
    offsets: Sequence[tuple[int, int]] = _encode(tokenizer, text, return_offsets_mapping=True)["offset_mapping"]
    return len(text[: offsets[0][1]].encode())


def _encode(tokenizer: Any, text: str, **options: bool) -> Any:
    """Tokenise a text without a beginning-of-sentence token, and without special tokens where the text spells one."""
    return tokenizer(text, add_special_tokens=False, split_special_tokens=True, verbose=False, **options)


def _pieces(data: np.ndarray) -> Iterator[str]:
    """Split a text before spaces, or between characters if there are none."""
    start = 0
    while start < len(data):
        piece = data[start : start + PIECE].tobytes()
        if start + PIECE < len(data):
            space = piece.rfind(b" ")
            piece = piece[:space] if space > 0 else _whole(piece) or piece
        yield piece.decode("utf-8", errors="ignore")
        start += len(piece)


def _whole(text: bytes) -> bytes:
    """Leave out a partial character at the end."""
    return text.decode("utf-8", errors="ignore").encode()
