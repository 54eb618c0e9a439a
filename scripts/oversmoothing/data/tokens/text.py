"""A text in tokens: whole splits of a corpus, for training, and passages of it, for the evaluation windows."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tqdm import tqdm

from oversmoothing.data.tokens.vocabulary import Vocabulary, load_tokenizer, read_vocabulary
from oversmoothing.data.windows import Cut, Passage
from oversmoothing.store.atomic import atomic_path

DTYPE = "int32"  # of a file of tokens
BLOCK = 1 << 20  # bytes that are tokenised at a time
BYTES_PER_TOKEN = 16  # that a passage is first expected to have at most


def encode(tokenizer: Tokenizer, vocabulary: Vocabulary, text: str) -> np.ndarray:
    """Tokens of a text, int64 (n,), without any that the tokenizer would put around it."""
    return vocabulary.tokens(tokenizer.encode(text, add_special_tokens=False).ids)


def encode_bytes(tokenizer: Tokenizer, vocabulary: Vocabulary, text: bytes) -> np.ndarray:
    """As `encode`, of UTF-8; a character that is cut at an end is left out."""
    return encode(tokenizer, vocabulary, text.decode("utf-8", errors="ignore"))


def write_tokens(path: str | Path, data: np.ndarray, tokenizer: Tokenizer, vocabulary: Vocabulary) -> dict[str, Any]:
    """Write the tokens of a split, and return what a manifest says of the file.

    `data` are UTF-8, uint8 (n,). They are tokenised in blocks that end with a line (or a character, where a line is
    longer), so a file of any size can be read.
    """
    total, sha256 = 0, hashlib.sha256()
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        for text in tqdm(_blocks(data), desc=Path(path).stem, unit="block", disable=None):
            tokens = encode(tokenizer, vocabulary, text).astype(DTYPE)
            file.write(tokens.data)
            sha256.update(tokens.data)
            total += len(tokens)
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
            encoded = tokenizer.encode(text if whole else text[: _last_space(text)], add_special_tokens=False)
            if len(encoded.ids) >= length:
                break
            if whole:
                return None
            reach *= 2
        tokens = vocabulary.tokens(encoded.ids[:length])
        end = start + len(text[: encoded.offsets[length - 1][1]].encode())
        parts = tokens[:prompt], tokens[prompt:]
        return Passage(end, (*(vocabulary.decode(part.tolist()) for part in parts), *parts))

    return cut


def passages_of_job(job: Any, data: np.ndarray) -> Cut | None:
    """As `passages`, with the windows' settings and the tokens of a job; None for a job over bytes."""
    if not job.input.tokenizer:
        return None
    tokenizer, vocabulary = load_tokenizer(job.input.tokenizer), read_vocabulary(job.input.vocabulary)
    return passages(data, tokenizer, vocabulary, job.params.settings["prompt"], job.params.settings["scored"])


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
