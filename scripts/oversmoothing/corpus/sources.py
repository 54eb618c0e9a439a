"""From the config's `corpus` settings to a source of documents.

To add a corpus, write a module with a class that satisfies `documents.Source` and give it a line in
`SOURCES`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from oversmoothing.corpus.documents import Source
from oversmoothing.corpus.files import Files
from oversmoothing.corpus.harvest import Docstrings
from oversmoothing.jobs import UserError

# Each opener takes the settings and the number of processes it may use.
SOURCES: dict[str, Callable[[Mapping[str, Any], int], Source]] = {
    "docstrings": lambda settings, processes: Docstrings(processes=processes),
    "files": lambda settings, processes: Files(settings.get("paths") or [], settings.get("column") or "text"),
}


def open_source(settings: Mapping[str, Any], processes: int = 1) -> Source:
    """Open the source that ``settings["source"]`` names.

    Parameters
    ----------
    settings : mapping
        ``source``: a key of `SOURCES`. For ``files`` also ``paths`` (list of str) and ``column`` (str).
    processes : int
        How many processes it may use; the documents do not depend on it.

    Returns
    -------
    Source

    Raises
    ------
    UserError
        If the source is not known, or what it needs is not there.
    """
    name = settings.get("source")
    if name not in SOURCES:
        raise UserError(f"corpus source {name!r} is not known: write one of {', '.join(sorted(SOURCES))}")
    return SOURCES[name](settings, processes)
