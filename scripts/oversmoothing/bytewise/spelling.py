"""How a tokenizer of byte-pair encoding spells texts: its tokens, their merges and its segments."""

import unicodedata
from collections.abc import Container, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

import numpy as np

from oversmoothing.bytewise.merges import Merges
from oversmoothing.bytewise.segments import DEAD, Segments
from oversmoothing.bytewise.sorted_tokens import Sorted
from oversmoothing.bytewise.utf8 import decode
from oversmoothing.data.tokens.vocabulary import SPACE
from oversmoothing.jobs import UserError


class SpaceBefore(Enum):
    """Whether a tokenizer adds a space before a text."""

    NEVER = "never"
    UNLESS_THERE = "unless there"  # a text that begins with a space is read as the same text without it
    ALWAYS = "always"


class Unfinished(NamedTuple):
    """Tokens behind which a segment has to go on: the state, bytes behind its last whole character, and the ids."""

    state: int
    rest: bytes
    begins: bool  # whether the segment begins with `rest`
    ids: np.ndarray


Stepped = tuple[np.ndarray, list[Unfinished]]  # ids behind which a segment can end, and those of others


class Spelled(NamedTuple):
    """Tokens with the same classes of characters: ids by bytes behind the last, and those with more, by the next."""

    ends: dict[bytes, np.ndarray]
    following: dict[int, "Spelled"]


class Spelling:
    """The tokens of a tokenizer, how their bytes are merged, and where a text is cut before.

    `texts` are those of the ids, None for one that stands for none, such as the end of a text. `whole` are segments
    that are one token whatever the merges: added tokens, and those of a vocabulary that is asked first. `composed` says
    whether texts are brought to NFC before they are cut. `divisible` are classes of the characters that tokens can
    divide, None for all.
    """

    def __init__(
        self,
        texts: list[bytes | None],
        merges: Merges,
        segments: Segments,
        whole: Mapping[bytes, int],
        composed: bool = False,
        divisible: Container[int] | None = None,
        space: SpaceBefore = SpaceBefore.NEVER,
    ) -> None:
        self.texts, self.merges, self.segments, self.whole, self.composed = texts, merges, segments, whole, composed
        self.divisible, self.space = divisible, space
        self.by_text = Sorted(texts)
        self.id_of = {text: id for id, text in enumerate(texts) if text and merges.reachable[id]}  # that merges make
        self.longest = max(len(text) for text in texts if text)
        self.first = merges.reachable.copy()  # whether each id can be the first of a segment, as far as merges say
        self.first[list(whole.values())] = True
        self._beginning: dict[tuple[int, bool, bytes], np.ndarray] = {}
        self._branches: dict[tuple[int, int], Stepped] = {}
        self._first: dict[tuple[bytes | int, ...], tuple[int, bool]] = {}
        self._going: dict[tuple[int, bool, bytes, int], bool] = {}
        self._beginnings: tuple[list[tuple[int, bytes]], ...] = [], []  # tokens with a whole character, or inside one
        for id, text in enumerate(texts):
            if text:
                self._beginnings[text[0] >> 6 == 2].append((id, text))
        self._longer: dict[bytes, list[bytes]] = {}
        for text in whole:
            for length in range(len(text)):
                self._longer.setdefault(text[:length], []).append(text)

    def check(self, text: bytes) -> None:
        """Raise a `UserError` if bytes are no text that the tokenizer reads as it is.

        They have to be UTF-8, though they may end inside a character, of bytes that tokens stand for, and in NFC if the
        tokenizer brings texts to it.
        """
        try:
            characters, _ = decode(text)
        except UnicodeDecodeError as error:
            raise UserError(f"a text has the byte {text[error.start]:#04x} at {error.start}, no UTF-8") from None
        if self.merges.symbols.character_ids and SPACE in characters:
            raise UserError(f"a text has the character {SPACE}, which its tokenizer reads as a space; replace it")
        if lacking := sorted(set(text) - {byte[0] for byte in self.merges.symbols.byte_ids}):
            named = ", ".join(f"0x{value:02x}" for value in lacking)
            raise UserError(f"a text has bytes that its tokenizer's vocabulary lacks ({named}); leave them out")
        if self.composed and not unicodedata.is_normalized("NFC", characters):
            raise UserError("a text is not in NFC, as its tokenizer brings it before it reads; normalise the text")

    def before(self, text: bytes, start: int) -> bytes:
        """Return what a tokenizer adds before a text of which the bytes before `start` are given."""
        if self.space is SpaceBefore.UNLESS_THERE and text.startswith(b" "):
            if not start:
                raise UserError("its tokenizer drops a space at the beginning of a text; start behind it")
            return b""
        return b"" if self.space is SpaceBefore.NEVER else b" "

    def can_divide(self, state: int, rest: bytes, begins: bool) -> bool:
        """Return whether a character can follow that a token can divide behind its bytes `rest`."""
        return self.segments.can_begin(state, rest, begins, self.divisible)

    def segment_starts(self, text: bytes) -> list[int]:
        """Return offsets of the segments of a text, as its tokenizer cuts it.

        Part of a character at the end is left out.
        """
        characters, _ = decode(text)
        offsets = np.cumsum([0, *(len(each.encode()) for each in characters)])
        return [int(offsets[at]) for at in self.segments.split(characters)]

    def allowed(self, state: int, rest: bytes, begins: bool, segment: bytes) -> np.ndarray:
        """Return whether each id, bool (ids,), can stand in one segment from here on.

        `state` is that of the segments before the character of which `rest` is the beginning, if any; the token, or the
        character that it continues, begins a segment or does not, and `segment` is the text of the segment so far.
        Whether merges join the token to the one before is left out, but the segment can go on behind it to an end.
        """
        allowed = self._in_one_segment(*self._alike(state, begins, rest), rest)
        before = b"" if begins and not rest else segment
        if before not in self._longer:
            return allowed
        key = (state, begins, rest)
        if not before and key in self._beginning:
            return self._beginning[key]
        allowed = allowed.copy()
        for text in self._longer[before]:  # what the segment may become, and then is one token
            token = text[len(before) :]
            try:
                after = self.segments.read(state, rest + token, begins)
            except UnicodeDecodeError:
                continue
            if (id := self.id_of.get(token, -1)) >= 0:
                allowed[id] = after != DEAD and self._goes_on(after, b"", False, text, id)
            if not before:
                allowed[self.whole[text]] = after != DEAD and self.segments.can_end(after)
        if not before:
            self._beginning[key] = allowed
        return allowed

    @cache  # noqa: B019 (a tokenizer lives as long as its process)
    def _in_one_segment(self, state: int, begins: bool, rest: bytes) -> np.ndarray:
        """Return what `allowed` returns, whatever segments are one token."""
        finished, unfinished = self._stepped(state, begins, rest)
        allowed = np.zeros(len(self.texts), bool)
        allowed[finished] = True
        for after, ending, first, ids in unfinished:
            for id in ids:
                allowed[id] = self.merges.reachable[id] and self._goes_on(after, ending, first, b"", int(id))
        return allowed

    def _goes_on(self, state: int, rest: bytes, begins: bool, segment: bytes, before: int) -> bool:
        """Return whether any token can stand behind the token `before` in its segment (arguments as of `allowed`)."""
        may_follow = self.merges.may_follow(before)
        if segment and segment in self._longer:
            return bool((self.allowed(state, rest, begins, segment) & may_follow).any())
        key = (*self._alike(state, begins, rest), rest, before)
        if key not in self._going:
            finished, unfinished = self._stepped(*key[:3])
            following = ((each, int(id)) for each in unfinished for id in each.ids[may_follow[each.ids]])
            self._going[key] = bool(may_follow[finished].any()) or any(
                self._goes_on(each.state, each.rest, each.begins, b"", id) for each, id in following
            )
        return self._going[key]

    @cache  # noqa: B019
    def _stepped(self, state: int, begins: bool, rest: bytes) -> Stepped:
        """Return ids behind which a segment can end, and those behind which it has to go on."""
        spelled = self._spelled(rest)
        parts = self._ends(spelled, state, begins)
        for each, branch in spelled.following.items():
            after = self.segments.step(state, each, begins)
            if after != DEAD and not (rest and self.divisible is not None and each not in self.divisible):
                parts.append(self._branch(branch, after))
        return _joined(parts)

    def _branch(self, branch: Spelled, state: int) -> Stepped:
        """Return what `_stepped` returns, of the tokens of a branch.

        They reach a state inside a segment by its first character.
        """
        key = (id(branch), state)
        if key not in self._branches:
            parts, open_ = [], [(branch, state)]
            while open_:
                node, after = open_.pop()
                parts += self._ends(node, after, False)
                for each, more in node.following.items():
                    if (reached := self.segments.step(after, each, False)) != DEAD:
                        open_.append((more, reached))
            self._branches[key] = _joined(parts)
        return self._branches[key]

    def _ends(self, node: Spelled, state: int, begins: bool) -> list[Stepped]:
        """Return what `_stepped` returns, of tokens that end at a node, by the bytes behind their last character."""
        found: list[Stepped] = []
        for ending, ids in node.ends.items():
            if not ending and self.segments.can_end(state):
                found.append((ids, []))
            elif not ending or self.can_divide(state, ending, begins):
                found.append((ids[:0], [Unfinished(state, ending, begins, ids)]))
        return found

    def _alike(self, state: int, begins: bool, rest: bytes) -> tuple[int, bool]:
        """Return the first arguments seen that lead to the same states by every character that begins with `rest`."""
        if not rest:
            return state, begins
        after = (self.segments.step(state, each, begins) for each in self.segments.ending(rest))
        return self._first.setdefault((rest, *after), (state, begins))

    @cache  # noqa: B019
    def _spelled(self, rest: bytes) -> Spelled:
        """Return tokens behind the bytes `rest`, by the classes of their characters.

        The first character begins with `rest`.
        """
        kinds: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
        for id, text in self._beginnings[bool(rest)]:
            try:
                characters, ending = decode(rest + text)
            except UnicodeDecodeError:
                continue
            kinds.setdefault((tuple(self.segments.classes_of(characters)), ending), []).append(id)
        root = Spelled({}, {})
        for (of_characters, ending), ids in kinds.items():
            node = root
            for character in of_characters:
                node = node.following.setdefault(character, Spelled({}, {}))
            node.ends[ending] = np.array(ids)
        return root


def _joined(parts: Sequence[Stepped]) -> Stepped:
    finished = [np.empty(0, np.int64), *(ids for ids, _ in parts)]
    return np.concatenate(finished), [each for _, unfinished in parts for each in unfinished]
