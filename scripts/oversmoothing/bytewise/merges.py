"""Which token of byte-pair encoding may stand behind which, decided from how the two were merged.

Byte-pair encoding joins, again and again, the neighbours whose merge has the lowest rank, of equals the leftmost. So
an encoding is the only sequence of tokens with its bytes of which each is what its own bytes are merged to and each
pair of neighbours stays apart. Two neighbours do not stay apart if a part at the end of the one and a part at the
beginning of the other are merged before either becomes part of something larger (Hayase et al. 2025, arXiv
2506.14123). A merge whose parts come from merges of higher rank happens with these; where two such merges happen
together, the pair is merged to see which is the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np

from oversmoothing.bytewise.utf8 import length_from


@dataclass(frozen=True)
class Symbols:
    """Ids of single bytes, and of the UTF-8 of those characters that are tokens themselves.

    A character that is no token is spelled by its bytes. A byte-level vocabulary has no such characters.
    """

    byte_ids: Mapping[bytes, int]
    character_ids: Mapping[bytes, int] = field(default_factory=dict)

    def ids(self, text: bytes) -> list[int]:
        """Return ids of the symbols of a text, before any merge; a `KeyError` names a byte that is no token."""
        if not self.character_ids:
            return [self.byte_ids[text[at : at + 1]] for at in range(len(text))]
        ids, at = [], 0
        while at < len(text):
            end = at + length_from(text[at])
            character = self.character_ids.get(text[at:end])
            if character is None:
                end = at + 1
            ids.append(self.byte_ids[text[at:end]] if character is None else character)
            at = end
        return ids


NEVER = np.iinfo(np.int64).max  # rank of a merge that does not happen


class Merges:
    """The merges of a vocabulary, ids (left, right, merged) by rank, and how each token was merged.

    `texts` are those of the ids, None for one that stands for no text. `symbols` are what is merged at first, or else
    the tokens of one byte that no merge makes. `reachable`, bool (ids,), says whether a token's bytes are merged to it.
    """

    def __init__(
        self,
        texts: Sequence[bytes | None],
        merges: Sequence[tuple[int, int, int]],
        symbols: Symbols | None = None,
    ) -> None:
        self.ids, self.texts = len(texts), texts
        self._rank = {(left, right): (rank, merged) for rank, (left, right, merged) in reversed([*enumerate(merges)])}
        merged = {each[2] for each in merges}
        single = {text: id for id, text in enumerate(texts) if text and len(text) == 1 and id not in merged}
        self.symbols = symbols or Symbols(single)
        self.halves = np.full((self.ids, 2), -1, np.int64)  # (left, right) of a token's last merge
        self.formed = np.full(self.ids, -1, np.int64)  # when a token is there: -1 at once, or after the merge of a rank
        self.late = np.zeros(self.ids, bool)  # whether this is after a merge of higher rank than a token's own
        self.reachable = np.zeros(self.ids, bool)
        for id in sorted((id for id in range(self.ids) if texts[id]), key=lambda id: len(texts[id] or b"")):
            self._form(id, texts[id] or b"")
        self._after = self._by_left()
        self._beginning = self._beginnings()

    def encode(self, text: bytes) -> list[int]:
        """Return ids that bytes are merged to; raise a `KeyError` if a byte is no token."""
        return self._merge(text)[0]

    @lru_cache(maxsize=1 << 12)  # noqa: B019 (a tokenizer lives as long as its process)
    def may_follow(self, id: int) -> np.ndarray:
        """Return whether each id, bool (ids,), stays apart from the token `id` if it stands right behind it."""
        apart = self.reachable.copy()
        begin, tokens, consumed, late = self._beginning
        unsure = np.zeros(self.ids, bool)
        for part, until, until_late in self._ending(id):
            right, own = self._after.get(part, (np.empty(0, np.int64),) * 2)
            rank = np.maximum(np.maximum(own, self.formed[right]), self.formed[part])
            in_time = (rank < until) | ((rank == until) & (until_late | (own < rank)))
            right, own, rank = right[in_time], own[in_time], rank[in_time]
            counts = begin[right + 1] - begin[right]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            entries = np.repeat(begin[right], counts) + within
            own, rank = np.repeat(own, counts), np.repeat(rank, counts)
            joined, same = rank <= consumed[entries], rank == consumed[entries]
            tied = (rank == until) | (same & (late[entries] | (own < rank)))
            apart[tokens[entries[joined & ~tied]]] = False
            unsure[tokens[entries[joined & tied]]] = True
        for other in np.flatnonzero(unsure & apart).tolist():
            apart[other] = self.encode((self.texts[id] or b"") + (self.texts[other] or b"")) == [id, other]
        apart.flags.writeable = False
        return apart

    def _form(self, id: int, text: bytes) -> None:
        """Record how the bytes of a token are merged, if they are merged to it.

        Shorter tokens come first.
        """
        try:
            ids, last = self._merge(text)
        except KeyError:
            return
        if ids != [id]:
            return
        self.reachable[id] = True
        if last is not None:
            rank, left, right = last
            self.halves[id] = left, right
            self.formed[id] = max(rank, self.formed[left], self.formed[right])
            self.late[id] = rank < self.formed[id]

    def _merge(self, text: bytes) -> tuple[list[int], tuple[int, int, int] | None]:
        """Return ids that bytes are merged to, and rank, left and right of the last merge."""
        ids, last = self.symbols.ids(text), None
        none = (NEVER, -1)
        ranks = [self._rank.get(pair, none) for pair in pairwise(ids)]
        while ranks and (lowest := min(ranks))[0] < NEVER:
            at = ranks.index(lowest)
            last = lowest[0], ids[at], ids[at + 1]
            ids[at : at + 2] = [lowest[1]]
            del ranks[at]
            if at:
                ranks[at - 1] = self._rank.get((ids[at - 1], ids[at]), none)
            if at < len(ranks):
                ranks[at] = self._rank.get((ids[at], ids[at + 1]), none)
        return ids, last

    def _ending(self, id: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the parts at a token's end, the token first, when each becomes part of the one before, and if late."""
        until, late = NEVER, False
        while id >= 0:
            yield id, until, late
            until, late, id = int(self.formed[id]), bool(self.late[id]), int(self.halves[id, 1])

    def _beginnings(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the tokens that each id begins, when it becomes part of more, and if late, grouped by the id."""
        parts, tokens, consumed, lates = [], [], [], []
        id, token = (np.flatnonzero(self.reachable),) * 2
        until, late = np.full(len(id), NEVER), np.zeros(len(id), bool)
        while len(id):
            parts.append(id)
            tokens.append(token)
            consumed.append(until)
            lates.append(late)
            id, token, until, late = self.halves[id, 0], token, self.formed[id], self.late[id]
            id, token, until, late = (each[id >= 0] for each in (id, token, until, late))
        part = np.concatenate(parts)
        order = np.argsort(part, kind="stable")
        begin = np.searchsorted(part[order], np.arange(self.ids + 1))
        return begin, np.concatenate(tokens)[order], np.concatenate(consumed)[order], np.concatenate(lates)[order]

    def _by_left(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return the right parts and ranks of the merges of each left part."""
        by_left: dict[int, list[tuple[int, int]]] = {}
        for (left, right), (rank, _) in self._rank.items():
            by_left.setdefault(left, []).append((right, rank))
        return {left: (each[:, 0], each[:, 1]) for left, group in by_left.items() if len(each := np.array(group))}
