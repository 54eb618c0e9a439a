"""The sources of documents that a config can name in ``corpus.source``, each declared once.

A source of your own is a function here and its line in `SOURCES`. Its imports stand inside the function, so that the
workflow, which reads the names, imports none of the readers.
"""

from collections.abc import Callable, Mapping
from typing import Any

from oversmoothing.corpus.documents import Source
from oversmoothing.jobs import UserError


def docstrings(settings: Mapping[str, Any], processes: int) -> Source:
    """Prose in the documentation of the installed packages."""
    from oversmoothing.corpus.harvest import Docstrings

    return Docstrings(processes=processes)


def files(settings: Mapping[str, Any], processes: int) -> Source:
    """Files of the user's: Parquet, JSONL and plain text."""
    from oversmoothing.corpus.files import Files

    return Files(settings.get("paths") or [], settings.get("column") or "text")


# Each takes the config's `corpus` settings and the number of processes that it may use.
SOURCES: dict[str, Callable[[Mapping[str, Any], int], Source]] = {
    "docstrings": docstrings,
    "files": files,
}


def open_source(settings: Mapping[str, Any], processes: int = 1) -> Source:
    """Documents of the source that ``settings["source"]`` names; they do not depend on the number of processes.

    Raises
    ------
    UserError
        If the source is unknown, or what it reads does not exist.
    """
    name = settings.get("source")
    if name not in SOURCES:
        raise UserError(f"corpus.source: {name!r} is unknown; use one of {', '.join(sorted(SOURCES))}")
    return SOURCES[name](settings, processes)
