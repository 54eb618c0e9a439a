"""The sources of documents that a config can name in ``corpus.source``, each declared once.

To add a source, write a function here and add it to `SOURCES`. It imports its reader inside the function, so that the
workflow can read the names without importing the readers.
"""

from collections.abc import Callable, Mapping
from typing import Any

from oversmoothing.data.documents import Cut, Source


def docstrings(settings: Mapping[str, Any], processes: int) -> Source:
    """Return prose from the docstrings of the installed packages."""
    from oversmoothing.data.harvest import Docstrings

    return Docstrings(processes=processes)


def files(settings: Mapping[str, Any], processes: int) -> Source:
    """Return the local files: Parquet, JSON Lines and plain text."""
    from oversmoothing.data.files import Files

    return Files(settings.get("paths") or [], settings.get("column") or "text")


# Each function takes the `corpus` section of the config and the number of processes that it may use.
SOURCES: dict[str, Callable[[Mapping[str, Any], int], Source]] = {
    "docstrings": docstrings,
    "files": files,
}


def open_source(settings: Mapping[str, Any], processes: int = 1) -> Source:
    """Return the source that ``settings["source"]`` names, its documents cut if ``settings["cut"]`` says so."""
    source = SOURCES[settings["source"]](settings, processes)
    return Cut(source, settings["cut"]) if settings.get("cut") else source
