"""Covers of every beginning of a text, as one tree of tokens.

A cover of a text is a sequence of tokens that can stand at the beginning of an encoding, all but the last inside the
text, the last reaching its end or passing it. So it is an encoding of the first bytes and one token more. What the
first j bytes of a text are encoded to follows from the text, but for what the pre-tokenizer makes dependent on what
follows; so there are one or two such sequences for each j, and together they are a tree of about one node a byte.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oversmoothing.bytewise.segments import DEAD, START
from oversmoothing.bytewise.spelling import Spelling
from oversmoothing.bytewise.utf8 import decode, length_from
from oversmoothing.jobs import UserError


class Tree(NamedTuple):
    """Sequences of tokens; node 0, the root, is the one before any token, and a node's parent is before it."""

    tokens: np.ndarray  # int64 (nodes,), -1 of the root
    parents: np.ndarray  # int64 (nodes,), -1 of the root
    depths: np.ndarray  # int64 (nodes,)


class Way(NamedTuple):
    """How a token can stand behind an encoding: the arguments of `Spelling.allowed`, and the token before, or -1."""

    state: int
    rest: bytes
    begins: bool
    segment: bytes
    before: int


class Place(NamedTuple):
    """An encoding of the first `at` bytes of a text, by its node, and the ways in which a token can stand behind it."""

    at: int
    node: int
    ways: Sequence[Way]


class _Segment(NamedTuple):
    """A segment under way: where it and all up to it start, and the node of each of its beginnings."""

    start: int
    starts: list[int]
    nodes: dict[int, int]


class _Path(NamedTuple):
    """A claim about where segments begin: the open segment, and the automaton's state before the bytes `rest`."""

    segment: _Segment
    state: int
    begins: bool
    rest: bytes


def covers(spelling: Spelling, text: bytes, start: int) -> tuple[Tree, list[Place]]:
    """Return the tree of a text, and the places from which a token can reach its byte `start` or a later one.

    The places stand from the left.

    A `UserError` if the text is no UTF-8 (it may end inside a character), or not as its tokenizer normalises texts.
    """
    spelling.check(text)
    reader = _Reader(spelling, text)
    first = max(0, start - spelling.longest)
    places, paths = [], [_Path(_Segment(0, [0], {0: 0}), START, False, b"")]
    checked = len(text) - len(decode(text)[1])
    for at in range(len(text)):
        if at >= start or (at >= first and np.diff(spelling.by_text.beginning(text[at:start])) > 0):
            places += reader.places(at, paths)
        paths = reader.advance(at, paths)
        if at + 1 == checked:
            reader.check(at + 1, paths)
    return Tree(*map(np.array, (reader.tokens, reader.parents, reader.depths))), places


class _Reader:
    """Reading of a text: the nodes so far, and the encoding of each beginning of each segment."""

    def __init__(self, spelling: Spelling, text: bytes) -> None:
        self.spelling, self.text = spelling, text
        self.tokens, self.parents, self.depths = [-1], [-1], [0]
        self.children: dict[tuple[int, int], int] = {}
        self.last: dict[int, list[tuple[int, int]]] = {}  # by start of a segment: start and id of each one's last token

    def advance(self, at: int, paths: Sequence[_Path]) -> list[_Path]:
        """Return paths after one more byte, that at `at`."""
        segments, longer = self.spelling.segments, []
        for path in paths:
            rest = path.rest + self.text[at : at + 1]
            whole = len(rest) == length_from(rest[0])
            for begins in [path.begins] if path.rest else [True, False]:
                if whole:
                    state = segments.step(path.state, int(segments.classes[ord(rest.decode())]), begins)
                else:
                    state = path.state if segments.can_begin(path.state, rest, begins) else DEAD
                if state != DEAD:
                    new = begins and not path.rest
                    segment = self.following(path.segment, at) if new else path.segment
                    longer.append(_Path(segment, state, begins and not whole, b"" if whole else rest))
        return longer

    def places(self, at: int, paths: Sequence[_Path]) -> list[Place]:
        """Return encodings of the first `at` bytes, and the ways in which a token can stand behind each."""
        ways: dict[int, list[Way]] = {}
        for path in paths:
            segment = self.text[path.segment.start : at]
            if not path.rest:
                closed = self.closed(path.segment, at)
                ways.setdefault(closed, []).append(Way(path.state, b"", True, b"", -1))
            if segment and (not path.rest or self.spelling.can_divide(path.state, path.rest, path.begins)):
                before = self.ending(path.segment.start, at)[1]
                begins = path.begins and bool(path.rest)
                way = Way(path.state, path.rest, begins, segment, before)
                ways.setdefault(self.node(path.segment, at), []).append(way)
        return [Place(at, node, of_node) for node, of_node in ways.items()]

    def check(self, at: int, paths: Sequence[_Path]) -> None:
        """Raise a `UserError` unless the paths hold the segments that the tokenizer cuts the text into."""
        wanted = self.spelling.segment_starts(self.text[:at])
        for path in paths:
            if self.spelling.segments.is_whole(path.state) and path.segment.starts == wanted:
                return
        raise UserError("its pre-tokenizer cuts a text otherwise than parts of it; it cannot be read byte by byte")

    def following(self, segment: _Segment, at: int) -> _Segment:
        """Segment that begins behind another at `at`; at the beginning of a text the first."""
        if at == segment.start:
            return segment
        return _Segment(at, [*segment.starts, at], {at: self.closed(segment, at)})

    def closed(self, segment: _Segment, end: int) -> int:
        """Return the node of a segment that ends at `end`."""
        id = self.spelling.whole.get(self.text[segment.start : end])
        return self.node(segment, end) if id is None else self.child(segment.nodes[segment.start], id)

    def node(self, segment: _Segment, end: int) -> int:
        """Return the node of the first bytes of a segment, to `end`, as they are merged."""
        path, at = [], end
        while at not in segment.nodes:
            begin, id = self.ending(segment.start, at)
            path.append((at, id))
            at = begin
        node = segment.nodes[at]
        for at, id in reversed(path):
            node = segment.nodes[at] = self.child(node, id)
        return node

    def ending(self, start: int, end: int) -> tuple[int, int]:
        """Return where the last token of the encoding of the bytes `start` .. `end` begins, and its id."""
        endings = self.last.setdefault(start, [(start, -1)])
        merges, id_of = self.spelling.merges, self.spelling.id_of
        for to in range(start + len(endings), end + 1):
            for begin in range(max(start, to - self.spelling.longest), to):
                id = id_of.get(self.text[begin:to], -1)
                if id >= 0 and (begin == start or merges.may_follow(endings[begin - start][1])[id]):
                    endings.append((begin, id))
                    break
        return endings[end - start]

    def child(self, node: int, id: int) -> int:
        if (node, id) not in self.children:
            self.children[node, id] = len(self.tokens)
            self.tokens.append(id)
            self.parents.append(node)
            self.depths.append(self.depths[node] + 1)
        return self.children[node, id]
