"""Where a tokenizer without a pre-tokenizer cuts a text: around added tokens alone.

From the left, the tokenizer takes the longest added token at each place of a text. So what a text and its claims (see
`segments`) leave possible follows from the part of the text that may yet belong to a longer token, from the claims in
it, and from what comes before it; nothing has to be learned.
"""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

import numpy as np

from oversmoothing.bytewise.segments import DEAD, Segments, Split

NOTHING, TOKEN, PLAIN = range(3)  # what comes before the part of a text that is open


Lengths = Mapping[str, Mapping[int, Container[str]]]  # tokens by first character and length, the longest first


def lengths_of(added: Collection[str]) -> Lengths:
    """Added tokens for `length_at`."""
    found: dict[str, dict[int, set[str]]] = {}
    for token in sorted(added, key=len, reverse=True):
        found.setdefault(token[0], {}).setdefault(len(token), set()).add(token)
    return found


def length_at(added: Lengths, text: str, at: int) -> int:
    """Length of the longest added token at a place of a text; 0 if there is none."""
    return next((n for n, tokens in added.get(text[at], {}).items() if text[at : at + n] in tokens), 0)


def around(added: Lengths, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the added tokens of a text begin and end."""
    at = 0
    while at < len(text):
        if length := length_at(added, text, at):
            yield at, at + length
        at += length or 1


class AddedSegments(Segments):
    """States of a text that is cut around `added` tokens; other parameters are those of `Segments`."""

    def __init__(self, split: Split, classes: np.ndarray, characters: Sequence[str], added: Collection[str]) -> None:
        self._lengths = lengths_of(added)
        super().__init__(split, classes, characters, [])
        self._remaining: dict[str, list[str]] = {}  # of tokens, by their beginnings
        for token in added:
            for length in range(1, len(token)):
                self._remaining.setdefault(token[:length], []).append(token[length:])
        self._of_open: dict[tuple[object, ...], int] = {}

    def _state(self, text: str, starts: frozenset[int]) -> int:
        at, before = self._open(text)
        if {each for each in self.split(text) if each < at} != {each for each in starts if each < at}:
            return DEAD
        key = (before, text[at:], *sorted(each - at for each in starts if each >= at))
        if key not in self._of_open:
            endings = (each for start in range(at, len(text)) for each in self._remaining.get(text[start:], []))
            possible = any(self._holds(text, starts, continuation) for continuation in ("", *endings))
            self._of_open[key] = len(self._texts) if possible else DEAD
            self._texts += [(text, starts)] * possible
        return self._of_open[key]

    def _holds(self, text: str, starts: frozenset[int], continuation: str) -> bool:
        return {at for at in self.split(text + continuation) if at < len(text)} == starts

    def _open(self, text: str) -> tuple[int, int]:
        """Where the part of a text begins that may become part of a longer token, and what comes before it."""
        at, before = 0, NOTHING
        while at < len(text) and text[at:] not in self._remaining:
            length = length_at(self._lengths, text, at)
            at, before = at + (length or 1), TOKEN if length else PLAIN
        return at, before
