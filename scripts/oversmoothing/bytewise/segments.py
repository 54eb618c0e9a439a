"""Where a tokenizer cuts a text before it merges, as an automaton that reads the text from the left.

A pre-tokenizer cuts a text into segments, and where it cuts can depend on what follows: of "a  b" the second space
begins a segment, at the end of a text it does not. Here a text is read character by character together with a claim,
for each, whether a segment begins with it; the automaton's states are what such a text leaves possible.

The automaton is not written from the pre-tokenizer's expression but learned from its answers (Angluin 1987): two texts
with claims lead to one state if no continuation of `_continuations` tells them apart. Characters which the expression
cannot tell apart form a class, for which one character stands. What was learned is compared with the pre-tokenizer's
own answer on every text that is read (`spelling.Spelling`).
"""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from oversmoothing.bytewise.utf8 import code_points

DEAD, START = -1, 0  # no text goes on as claimed; nothing read yet

Split = Callable[[str], list[int]]  # positions of a text's characters with which its segments begin


class Segments:
    """States of a pre-tokenizer.

    Parameters
    ----------
    split : callable
        The pre-tokenizer.
    classes : int (0x110000,)
        Class of each code point.
    characters : sequence of str
        A character of each class.
    runs : iterable of str
        What of a text may have to be seen at once: texts whose every ending is tried as a continuation.

    """

    def __init__(self, split: Split, classes: np.ndarray, characters: Sequence[str], runs: Iterable[str]) -> None:
        self.split, self.classes, self.characters = split, classes, characters
        self._class_of = classes.tolist()  # by code point
        self._continuations = _continuations(characters, runs)
        self._texts = [("", frozenset[int]())]  # the first text with claims that led to each state
        self._known: dict[tuple[object, ...], int] = {self._answers(*self._texts[0]): START}
        self._steps: dict[tuple[int, int, bool], int] = {}
        self._endings: dict[bytes, list[int]] = {}
        self._ends: dict[int, bool] = {}

    def step(self, state: int, character: int, begins: bool) -> int:
        """State after a character of a class with which a segment begins or does not; `DEAD` if none can."""
        if state == DEAD:
            return DEAD
        if (known := self._steps.get((state, character, begins))) is None:
            text, starts = self._texts[state]
            known = self._state(text + self.characters[character], starts | {len(text)} if begins else starts)
            self._steps[state, character, begins] = known
        return known

    def read(self, state: int, text: bytes, begins: bool) -> int:
        """State after a text within one segment, with which it begins or does not; it ends with a whole character."""
        for character in self.classes_of(text.decode()):
            state, begins = self.step(state, character, begins), False
        return state

    def can_begin(self, state: int, rest: bytes, begins: bool, among: Container[int] | None = None) -> bool:
        """Whether a character can follow whose UTF-8 begins with the bytes `rest`, one of the classes `among`."""
        characters = [each for each in self.ending(rest) if among is None or each in among]
        return any(self.step(state, character, begins) != DEAD for character in characters)

    def can_end(self, state: int) -> bool:
        """Whether a segment can end here: the text ends, or another segment begins."""
        if state not in self._ends:
            following = (self.step(state, each, True) for each in range(len(self.characters)))
            self._ends[state] = self.is_whole(state) or any(after != DEAD for after in following)
        return self._ends[state]

    def is_whole(self, state: int) -> bool:
        """Whether the claims are the pre-tokenizer's answer if the text ends here."""
        text, starts = self._texts[state]
        return state != DEAD and frozenset(self.split(text)) == starts

    def classes_of(self, text: str) -> list[int]:
        """Class of each character of a text."""
        return [self._class_of[ord(character)] for character in text]

    def ending(self, rest: bytes) -> list[int]:
        """Classes of the characters whose UTF-8 begins with the bytes `rest`, less than a character."""
        if rest not in self._endings:
            low, high = code_points(rest)
            self._endings[rest] = [int(each) for each in np.unique(self.classes[low:high]) if each >= 0]
        return self._endings[rest]

    def _state(self, text: str, starts: frozenset[int]) -> int:
        answers = self._answers(text, starts)
        if not any(answer is not None for answer in answers):
            return DEAD
        if answers not in self._known:
            self._known[answers] = len(self._texts)
            self._texts.append((text, starts))
        return self._known[answers]

    def _answers(self, text: str, starts: frozenset[int]) -> tuple[object, ...]:
        """Where segments begin in each continuation of a text; None if not as claimed in the text itself."""
        claimed = tuple(sorted(starts))
        return tuple(behind if inside == claimed else None for inside, behind in self._cuts(text))

    @lru_cache(maxsize=256)  # noqa: B019 (a tokenizer lives as long as its process)
    def _cuts(self, text: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Where segments begin in a text, and behind its end, with each continuation."""
        n, cuts = len(text), []
        for continuation in self._continuations:
            cut = self.split(text + continuation)
            before = bisect_left(cut, n)
            cuts.append((tuple(cut[:before]), tuple(at - n for at in cut[before:])))
        return cuts


def _continuations(characters: Sequence[str], runs: Iterable[str]) -> list[str]:
    """Continuations of up to two characters, one of each class, and all endings of `runs`, alone and before each."""
    short = ["".join(each) for n in range(3) for each in product(characters, repeat=n)]
    long = {run[at:] for run in runs for at in range(len(run))}
    return [*dict.fromkeys([*short, *sorted(long), *(text + each for text in sorted(long) for each in characters)])]
