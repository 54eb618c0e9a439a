"""Documents of a corpus, the interface of the sources that yield them, and long texts cut into several."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from oversmoothing.jobs import UserError

SPLIT_ON = "corpus.cut: {text: ...}, or --split-on"
PARAGRAPHS = "paragraphs"
_BLANK_LINES = re.compile(r"\r?\n[ \t\r]*\n\s*")


class Document(NamedTuple):
    """One coherent text, which can be encoded as UTF-8: a docstring, a web page or a file."""

    name: str  # says its origin, the same on every machine
    text: str
    file: str = ""  # name of the user's file that it is from, if it is from one


class Source(Protocol):
    """Yields the same documents in the same order each time it is iterated.

    It is read several times (see `splits`) and should keep only small data in memory. It raises `UserError` with the
    file's name for a missing file or a malformed line.
    """

    def __iter__(self) -> Iterator[Document]:
        """Iterate over the documents from the first one."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return the origin of the documents for the manifest: versions, sizes and counts.

        It is complete once the documents have been iterated.

        The values are JSON and contain no absolute path, time or host.
        """
        ...


class Cut:
    """The documents of another source, each cut.

    `cut` is `PARAGRAPHS`, at blank lines; a number of characters; or ``{"text": ...}``, where this text stands, such as
    ``<|endoftext|>``. A `UserError` is raised if it stands nowhere.
    """

    def __init__(self, source: Source, cut: str | int | Mapping[str, str]) -> None:
        self.source = source
        self.cut = cut

    def __iter__(self) -> Iterator[Document]:
        found = not isinstance(self.cut, Mapping)
        for name, text, file in self.source:
            if isinstance(self.cut, Mapping):
                found = found or self.cut["text"] in text
                pieces = between(text, self.cut["text"])
            else:
                pieces = paragraphs(text) if self.cut == PARAGRAPHS else stretches(text, int(self.cut))
            yield from (Document(f"{name}#{i}", piece, file) for i, piece in enumerate(pieces))
        if isinstance(self.cut, Mapping) and not found:
            border = self.cut["text"]
            raise UserError(
                f"{border!r} stands nowhere in the text: name what stands between its documents ({SPLIT_ON})"
            )

    def facts(self) -> dict[str, Any]:
        """Return facts of the source, and how it was cut."""
        return {**self.source.facts(), "cut": self.cut}


def paragraphs(text: str) -> Iterator[str]:
    """Return parts of a text between blank lines, without those."""
    return filter(None, _BLANK_LINES.split(text.strip("\r\n")))


def between(text: str, border: str) -> Iterator[str]:
    """Return parts of a text between the places of another, without that and without line breaks around it."""
    return filter(None, (part.strip("\r\n") for part in text.split(border)))


def stretches(text: str, length: int) -> Iterator[str]:
    """Yield parts of at most `length` characters that together are the text.

    They end with a line, or else a word, where one ends in their second half.
    """
    start = 0
    while start < len(text):
        end = start + length
        if end < len(text):
            least = start + length // 2
            places = (text.rfind(mark, least, end) + 1 for mark in ("\n", " "))
            end = next((place for place in places if place > least), end)
        yield text[start:end]
        start = end
