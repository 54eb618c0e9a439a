"""Long texts cut into documents, so that a corpus of one file can be split into training and evaluation."""

import re
from collections.abc import Iterator
from typing import Any

from oversmoothing.data.documents import Document, Source

PARAGRAPHS = "paragraphs"
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")


class Cut:
    """The documents of another source, each cut into several.

    Parameters
    ----------
    source : Source
    cut : {"paragraphs"} or int
        At blank lines, or after at most this many characters, at the end of a line or else a word where there is one in
        the second half of them.
    """

    def __init__(self, source: Source, cut: str | int) -> None:
        self.source = source
        self.cut = cut

    def __iter__(self) -> Iterator[Document]:
        for name, text in self.source:
            pieces = paragraphs(text) if self.cut == PARAGRAPHS else stretches(text, int(self.cut))
            yield from (Document(f"{name}#{i}", piece) for i, piece in enumerate(pieces))

    def facts(self) -> dict[str, Any]:
        """Facts of the source, and how it was cut."""
        return {**self.source.facts(), "cut": self.cut}


def paragraphs(text: str) -> Iterator[str]:
    """Parts of a text between blank lines, without those."""
    return filter(None, _BLANK_LINES.split(text.strip("\n")))


def stretches(text: str, length: int) -> Iterator[str]:
    """Parts of at most `length` characters that together are the text."""
    start = 0
    while start < len(text):
        end = start + length
        if end < len(text):
            least = start + length // 2
            places = (text.rfind(mark, least, end) + 1 for mark in ("\n", " "))
            end = next((place for place in places if place > least), end)
        yield text[start:end]
        start = end
