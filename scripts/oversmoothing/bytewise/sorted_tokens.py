"""The tokens of a vocabulary in the order of their texts, so that those with one beginning are a stretch."""

from collections.abc import Sequence

import numpy as np


class Sorted:
    """Tokens in the order of their texts: `ids`, `lengths` (n,), and `letters`, uint8 (longest, n), 0 behind an end."""

    def __init__(self, texts: Sequence[bytes | None]) -> None:
        known = sorted((text, id) for id, text in enumerate(texts) if text)
        self.ids = np.array([id for _, id in known])
        self.lengths = np.array([len(text) for text, _ in known])
        longest = int(self.lengths.max())
        padded = b"".join(text.ljust(longest, b"\0") for text, _ in known)
        self.letters = np.ascontiguousarray(np.frombuffer(padded, np.uint8).reshape(-1, longest).T)

    def longer(self, at: int, low: int, high: int) -> int:
        """Return the first of the tokens low .. high, which share `at` bytes, that is longer."""
        return low + int(np.searchsorted(self.lengths[low:high] > at, True))

    def next(self, at: int, low: int, high: int, byte: int) -> tuple[int, int]:
        """Return the range of those of the tokens low .. high, which share `at` bytes, whose next byte is `byte`."""
        low = self.longer(at, low, high)
        if at >= len(self.letters):
            return high, high
        begin, end = np.searchsorted(self.letters[at, low:high], [byte, byte + 1])
        return low + int(begin), low + int(end)

    def beginning(self, text: bytes) -> tuple[int, int]:
        """Return the range of the tokens that begin with a text."""
        low, high = 0, len(self.ids)
        for at, byte in enumerate(text):
            low, high = self.next(at, low, high, byte)
        return low, high
