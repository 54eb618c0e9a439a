"""Byte-pair encoding learned from a text, without PyTorch."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from oversmoothing.store.sums import write_text

END = "<|endoftext|>"
PIECE = 1 << 16  # characters tokenised at once
PIECES = 64  # pieces in memory at a time: the library needs a hundred times the size of each


def train_tokenizer(text: str, vocabulary: int) -> Tokenizer:
    """Train byte-level byte-pair encoding with `vocabulary` tokens: at least 257, all bytes and the end of a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_pieces(text), trainer)
    return tokenizer


def save_tokenizer(path: str | Path, tokenizer: Tokenizer) -> None:
    """Write a tokenizer in the Hugging Face format, with a checksum beside it."""
    write_text(path, tokenizer.to_str())


def tokenise(tokenizer: Tokenizer, text: str) -> np.ndarray:
    """Convert a text to tokens, uint32 (tokens,)."""
    tokens = [np.zeros(0, np.uint32)]
    for start in range(0, len(text), PIECE * PIECES):
        pieces = list(_pieces(text[start : start + PIECE * PIECES]))
        tokens += [np.array(piece.ids, np.uint32) for piece in tokenizer.encode_batch(pieces)]
    return np.concatenate(tokens)


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
