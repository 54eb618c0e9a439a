"""What byte-pair encoding merges at first: the bytes of a text, or its characters (SentencePiece)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oversmoothing.bytewise.utf8 import length_from


@dataclass(frozen=True)
class Symbols:
    """Ids of single bytes, and of the UTF-8 of those characters that are tokens themselves.

    A character that is no token is spelled by its bytes. A byte-level vocabulary has no such characters.
    """

    byte_ids: Mapping[bytes, int]
    character_ids: Mapping[bytes, int] = field(default_factory=dict)

    def of(self, text: bytes) -> list[int]:
        """Ids of the symbols of a text, before any merge; a `KeyError` names a byte that is no token."""
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
