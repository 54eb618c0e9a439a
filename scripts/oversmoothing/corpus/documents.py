"""What a corpus is made of: documents, and the sources that yield them."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol


class Document(NamedTuple):
    """One text that belongs together: a docstring, a web page, a file.

    ``name`` says where it came from and is the same on every machine; ``text`` can be encoded as UTF-8.
    """

    name: str
    text: str


class Source(Protocol):
    """Yields the same documents in the same order each time it is iterated.

    A source is read several times (see `splits`), so it may keep in memory only what is small. What can go
    wrong in it is a mistake of the user's: a missing file, a broken line. It raises `UserError` with the
    file's name.
    """

    def __iter__(self) -> Iterator[Document]:
        """Start from the first document."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what the manifest records of where the documents came from: names, versions, sizes, counts.

        JSON values without a path, a time or a host; complete once the source has been iterated.
        """
        ...
