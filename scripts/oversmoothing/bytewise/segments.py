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
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from functools import cache, lru_cache
from itertools import product

import numpy as np
import regex

from oversmoothing.bytewise.utf8 import code_points

DEAD, START = -1, 0  # no text goes on as claimed; nothing read yet
NOTHING, TOKEN, PLAIN = range(3)  # what comes before the part of a text that is open

Split = Callable[[str], list[int]]  # positions of a text's characters with which its segments begin


class Segments:
    """States of a pre-tokenizer, `split`.

    `classes`, int (0x110000,), are those of the code points, and `characters` has one of each class. `runs` are what of
    a text may have to be seen at once: texts whose every ending is tried as a continuation.
    """

    def __init__(self, split: Split, classes: np.ndarray, characters: Sequence[str], runs: Iterable[str]) -> None:
        self.split, self.classes, self.characters = split, classes, characters
        self._class_of = classes.tolist()  # by code point
        self._continuations = _continuations(characters, runs)
        self._texts = [("", frozenset[int]())]  # the first text with claims that led to each state
        self._known: dict[tuple[object, ...], int] = {self._answers(*self._texts[0]): START}

    @cache  # noqa: B019 (a tokenizer lives as long as its process)
    def step(self, state: int, character: int, begins: bool) -> int:
        """State after a character of a class with which a segment begins or does not; `DEAD` if none can."""
        if state == DEAD:
            return DEAD
        text, starts = self._texts[state]
        return self._state(text + self.characters[character], starts | {len(text)} if begins else starts)

    def read(self, state: int, text: bytes, begins: bool) -> int:
        """State after a text within one segment, with which it begins or does not; it ends with a whole character."""
        for character in self.classes_of(text.decode()):
            state, begins = self.step(state, character, begins), False
        return state

    def can_begin(self, state: int, rest: bytes, begins: bool, among: Container[int] | None = None) -> bool:
        """Return whether a character of the classes `among` can follow whose UTF-8 begins with the bytes `rest`."""
        characters = [each for each in self.ending(rest) if among is None or each in among]
        return any(self.step(state, character, begins) != DEAD for character in characters)

    @cache  # noqa: B019
    def can_end(self, state: int) -> bool:
        """Return whether a segment can end here: the text ends, or another segment begins."""
        following = (self.step(state, each, True) for each in range(len(self.characters)))
        return self.is_whole(state) or any(after != DEAD for after in following)

    def is_whole(self, state: int) -> bool:
        """Return whether the claims are the pre-tokenizer's answer if the text ends here."""
        text, starts = self._texts[state]
        return state != DEAD and frozenset(self.split(text)) == starts

    def classes_of(self, text: str) -> list[int]:
        """Return the class of each character of a text."""
        return [self._class_of[ord(character)] for character in text]

    @cache  # noqa: B019
    def ending(self, rest: bytes) -> list[int]:
        """Return classes of the characters whose UTF-8 begins with the bytes `rest`, less than a character."""
        low, high = code_points(rest)
        return [int(each) for each in np.unique(self.classes[low:high]) if each >= 0]

    def _state(self, text: str, starts: frozenset[int]) -> int:
        answers = self._answers(text, starts)
        if not any(answer is not None for answer in answers):
            return DEAD
        if answers not in self._known:
            self._known[answers] = len(self._texts)
            self._texts.append((text, starts))
        return self._known[answers]

    def _answers(self, text: str, starts: frozenset[int]) -> tuple[object, ...]:
        """Return where segments begin in each continuation of a text; None if not as claimed in the text itself."""
        claimed = tuple(sorted(starts))
        return tuple(behind if inside == claimed else None for inside, behind in self._cuts(text))

    @lru_cache(maxsize=256)  # noqa: B019
    def _cuts(self, text: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return where segments begin in a text, and behind its end, with each continuation."""
        n, cuts = len(text), []
        for continuation in self._continuations:
            cut = self.split(text + continuation)
            before = bisect_left(cut, n)
            cuts.append((tuple(cut[:before]), tuple(at - n for at in cut[before:])))
        return cuts


class AddedSegments(Segments):
    """States of a text that is cut around `added` tokens alone; other parameters are those of `Segments`.

    From the left, the tokenizer takes the longest added token at each place of a text. So what a text and its claims
    leave possible follows from the part of the text that may yet belong to a longer token, from the claims in it, and
    from what comes before it; nothing has to be learned.
    """

    def __init__(self, split: Split, classes: np.ndarray, characters: Sequence[str], added: Collection[str]) -> None:
        self._added = any_of(added)
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
        """Return where the part of a text begins that may become part of a longer token, and what comes before it."""
        at, before = 0, NOTHING
        while at < len(text) and text[at:] not in self._remaining:
            token = self._added.match(text, at)
            at, before = (token.end(), TOKEN) if token else (at + 1, PLAIN)
        return at, before


def any_of(added: Collection[str]) -> regex.Pattern[str]:
    """Return the expression of the longest of some tokens at a place; none if there are no tokens."""
    return regex.compile(r"\L<added>", added=list(added)) if added else regex.compile("(?!)")


def _continuations(characters: Sequence[str], runs: Iterable[str]) -> list[str]:
    """Return continuations of up to two characters, one of each class, and endings of `runs`.

    All endings stand alone and before each continuation.
    """
    short = ["".join(each) for n in range(3) for each in product(characters, repeat=n)]
    long = {run[at:] for run in runs for at in range(len(run))}
    return [*dict.fromkeys([*short, *sorted(long), *(text + each for text in sorted(long) for each in characters)])]
