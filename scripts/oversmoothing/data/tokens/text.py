"""A text in tokens: whole splits of a corpus, for training, and passages of it, for the evaluation windows."""

import hashlib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tokenizers import Encoding, Tokenizer
from tqdm import tqdm

from oversmoothing.data.tokens.limits import encoded
from oversmoothing.data.tokens.vocabulary import Vocabulary, load_tokenizer, read_vocabulary
from oversmoothing.data.windows import Cut, Passage
from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path

DTYPE = "int32"  # of a file of tokens
BLOCK = 1 << 20  # bytes that are tokenised at a time
BYTES_PER_TOKEN = 16  # that a passage is first expected to have at most
QUOTED = 12  # bytes of a text that a message shows
CANONICAL: tuple[Literal["NFC", "NFD"], ...] = "NFC", "NFD"  # forms of a text that are the same text


def encode(
    tokenizer: Tokenizer, vocabulary: Vocabulary, text: str, name: str = "the text", start: int = 0
) -> np.ndarray:
    """Return tokens of a text, int64 (n,), without any that the tokenizer would put around it.

    The tokens must stand for the text, but for a space before it, and up to its canonical form (NFC or NFD). Otherwise
    a `UserError` says at which byte of `name` they do not; the text begins with the byte `start`.
    """
    return _tokens(vocabulary, encoded(tokenizer, text, name), text, name, start)


def encode_bytes(tokenizer: Tokenizer, vocabulary: Vocabulary, text: bytes) -> np.ndarray:
    """Return what `encode` returns, of UTF-8; a character that is cut at an end is left out."""
    return encode(tokenizer, vocabulary, text.decode("utf-8", errors="ignore"))


def write_tokens(path: str | Path, data: np.ndarray, tokenizer: Tokenizer, vocabulary: Vocabulary) -> dict[str, Any]:
    """Write the tokens of a split, and return what a manifest says of the file.

    `data` are UTF-8, uint8 (n,). They are tokenised in blocks that end with a line (or a character, where a line is
    longer), so a file of any size can be read.
    """
    total, read, sha256 = 0, 0, hashlib.sha256()
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        for text in tqdm(_blocks(data), desc=Path(path).stem, unit="block", disable=None):
            tokens = encode(tokenizer, vocabulary, text, f"the split {Path(path).stem}", read).astype(DTYPE)
            file.write(tokens.data)
            sha256.update(tokens.data)
            total, read = total + len(tokens), read + len(text.encode())
    size = total * np.dtype(DTYPE).itemsize
    return {"bytes": size, "sha256": sha256.hexdigest(), "tokens": total, "text_bytes": len(data)}


def passages(data: np.ndarray, tokenizer: Tokenizer, vocabulary: Vocabulary, prompt: int, scored: int) -> Cut:
    """Return the function that cuts a passage of `prompt` and `scored` tokens out of a text (`windows.draw_windows`).

    The text is tokenised from the start of the passage on, as a user would give it to a model.
    """
    length = prompt + scored

    def cut(start: int) -> Passage | None:
        reach = BYTES_PER_TOKEN * length
        while True:
            text = data[start : start + reach].tobytes().decode("utf-8", errors="ignore")
            whole = start + reach >= len(data)
            # The last word may go on behind the reach.
            read = encoded(tokenizer, text if whole else text[: _last_space(text)], "the split evaluation")
            if len(read.ids) >= length:
                break
            if whole:
                return None
            reach *= 2
        tokens = _tokens(vocabulary, read, text, "the split evaluation", start, length)
        end = start + len(text[: read.offsets[length - 1][1]].encode())
        parts = tokens[:prompt], tokens[prompt:]
        return Passage(end, (*(vocabulary.decode(part.tolist()) for part in parts), *parts))

    return cut


def passages_of_job(job: Any, data: np.ndarray) -> Cut | None:
    """Return what `passages` returns, with the windows' settings and the tokens of a job; None for a job over bytes."""
    if not job.input.tokenizer:
        return None
    tokenizer, vocabulary = load_tokenizer(job.input.tokenizer), read_vocabulary(job.input.vocabulary)
    return passages(data, tokenizer, vocabulary, job.params.settings["prompt"], job.params.settings["scored"])


def _tokens(
    vocabulary: Vocabulary, encoding: Encoding, text: str, name: str, start: int, length: int | None = None
) -> np.ndarray:
    """Return all tokens of a text, or the first `length`; see `encode`."""
    ids = encoding.ids[:length]
    try:
        tokens = vocabulary.tokens(ids)
    except UserError as error:
        first, last = encoding.offsets[np.flatnonzero(~np.isin(ids, vocabulary.ids))[0]]
        at = start + len(text[:first].encode())
        raise UserError(f"{name}: for {text[first:last]!r} at byte {at:,} {error}; remove it from the text") from error
    read = vocabulary.decode(tokens.tolist())
    for given, own in _forms(text, read):
        if given == own or (length is not None and given.startswith(own)):
            return tokens
    same, given, own = max((_shared(*pair), *pair) for pair in _forms(text, read))
    given, own = given[same : same + QUOTED], own[same : same + QUOTED]
    raise UserError(
        f"{name}: from byte {start + same:,} on the tokenizer reads {own!r} for {given!r}: it has no token for a byte, "
        "or its normalizer or one of its added tokens changes the text; change the text likewise before it is measured "
        "(`tr -d '\\r'` removes carriage returns)"
    )


def _forms(text: str, read: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each canonical form of a text beside what was read of it, as it is and without a space before it."""
    for form in (None, *CANONICAL):
        given = (unicodedata.normalize(form, text) if form else text).encode()
        yield from ((given, own) for own in (read, read.removeprefix(b" ")))


def _shared(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts begin with alike."""
    length = min(len(one), len(other))
    differ = np.frombuffer(one, np.uint8, length) != np.frombuffer(other, np.uint8, length)
    return int(differ.argmax()) if differ.any() else length


def _last_space(text: str) -> int:
    """Place of the last white space, or the end where there is none."""
    place = max(text.rfind(space) for space in " \n\t")
    return place if place > 0 else len(text)


def _blocks(data: np.ndarray) -> Iterator[str]:
    """Yield a text in blocks of about `BLOCK` bytes."""
    start = 0
    while start < len(data):
        block = data[start : start + BLOCK].tobytes()
        if start + BLOCK < len(data):
            line = block.rfind(b"\n") + 1
            block = block[: line or len(block.decode("utf-8", errors="ignore").encode())]
        yield block.decode("utf-8")
        start += len(block)
