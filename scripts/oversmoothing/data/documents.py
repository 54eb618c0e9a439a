"""Documents of a corpus and the interface of the sources that yield them."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol


class Document(NamedTuple):
    """One coherent text: a docstring, a web page or a file.

    ``name`` identifies its origin and is the same on every machine; ``text`` can be encoded as UTF-8.
    """

    name: str
    text: str


class Source(Protocol):
    """Yields the same documents in the same order each time it is iterated.

    A source is read several times (see `splits`) and should keep only small data in memory. It raises `UserError`
    with the file's name for a missing file or a malformed line.
    """

    def __iter__(self) -> Iterator[Document]:
        """Iterate over the documents from the first one."""
        ...

    def facts(self) -> dict[str, Any]:
        """Origin of the documents for the manifest: names, versions, sizes and counts.

        The values are JSON and contain no absolute path, time or host. They are complete once the source has been
        iterated.
        """
        ...
