"""Where a tokenizer without a pre-tokenizer cuts a text: around added tokens alone.

From the left, the tokenizer takes the longest added token at each place of a text. So what a text and its claims (see
`segments`) leave possible follows from the part of the text that may yet belong to a longer token, from the claims in
it, and from what comes before it; nothing has to be learned.
"""

from collections.abc import Collection, Sequence

import numpy as np

from oversmoothing.bytewise.segments import DEAD, Segments, Split

NOTHING, TOKEN, PLAIN = range(3)  # what comes before the part of a text that is open


class AddedSegments(Segments):
    """States of a text that is cut around `added` tokens; other parameters are those of `Segments`."""

    def __init__(self, split: Split, classes: np.ndarray, characters: Sequence[str], added: Collection[str]) -> None:
        self._added = frozenset(added)
        self._longest = max(map(len, added), default=0)
        self._beginnings = {token[:length] for token in added for length in range(1, len(token))}
        super().__init__(split, classes, characters, [])
        self._continuations = sorted({"", *(token[at:] for token in added for at in range(1, len(token)))})
        self._of_open: dict[tuple[object, ...], int] = {}

    def _state(self, text: str, starts: frozenset[int]) -> int:
        at, before = self._open(text)
        if {each for each in self.split(text) if each < at} != {each for each in starts if each < at}:
            return DEAD
        key = (before, text[at:], *sorted(each - at for each in starts if each >= at))
        if key not in self._of_open:
            possible = any(self._holds(text, starts, continuation) for continuation in self._continuations)
            self._of_open[key] = len(self._texts) if possible else DEAD
            self._texts += [(text, starts)] * possible
        return self._of_open[key]

    def _holds(self, text: str, starts: frozenset[int], continuation: str) -> bool:
        return {at for at in self.split(text + continuation) if at < len(text)} == starts

    def _open(self, text: str) -> tuple[int, int]:
        """Where the part of a text begins that may become part of a longer token, and what comes before it."""
        at, before = 0, NOTHING
        while at < len(text) and text[at:] not in self._beginnings:
            lengths = range(min(self._longest, len(text) - at), 0, -1)
            length = next((each for each in lengths if text[at : at + each] in self._added), 0)
            at, before = at + (length or 1), TOKEN if length else PLAIN
        return at, before
