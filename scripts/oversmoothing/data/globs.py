"""Files that globs match: each file once, whatever links lead to it, and in place of a folder of parts these."""

import heapq
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import ENOENT
from glob import escape, glob, has_magic
from stat import S_ISREG

from oversmoothing.data.extensions import KNOWN, LIST, PARQUET, RECORDS, format_of

_ESCAPED = re.compile(r"\[([*?[])\]")  # a sign of globs, as `escape` writes it
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # a line break, or no character at all in a path

# Spark writes a folder of this ending with parts in it, and marks beside them.
PARTED = (*PARQUET, *RECORDS)
_MARK = re.compile(r"_(SUCCESS|(common_)?metadata|(committed|started)_\w+)")
# Beside texts in a folder that `datasets` or `huggingface_hub` wrote.
_DESCRIPTION = re.compile(r"(dataset_infos?|dataset_dict|state|config|metadata)\.json")


def matching_files(patterns: Iterable[str]) -> list[str]:
    """Return the files that match any of the globs, sorted by path; of several paths to one file, the first.

    Globs are those of `glob.glob`, but ``**`` enters each folder once, so that links in a circle end. A folder that is
    named without a glob gives the texts in it and below, by their extensions (`extensions.KNOWN`).
    """
    matches = {path for pattern in patterns for path in _of_pattern(os.path.expanduser(pattern))}  # noqa: PTH111 (a glob)
    parted = [path for path in matches if path.rstrip("/").lower().endswith(PARTED) and os.path.isdir(path)]  # noqa: PTH112
    matches.update(part for path in parted for part in glob(f"{escape(path.rstrip('/'))}/[!_]*"))  # noqa: PTH207
    files: dict[str, str] = {}
    for path in sorted(matches):
        if os.path.isfile(path) and not _MARK.fullmatch(os.path.basename(path)):  # noqa: PTH113, PTH119
            files.setdefault(os.path.realpath(path), path)
    return list(files.values())


def named(pattern: str) -> str | None:
    """Return the path that a pattern names alone, where it is no glob: one without signs, or what `escape` returns."""
    return None if has_magic(_ESCAPED.sub("", pattern)) else _ESCAPED.sub(r"\1", pattern)


def as_pattern(given: str | os.PathLike[str]) -> str:
    """Return the pattern of what a user named on the command line: a path if there is one, or else a glob."""
    path = os.path.expanduser(given)  # noqa: PTH111 (a glob)
    return escape(path) if os.path.lexists(path) else path


def why_none(pattern: str) -> str:
    """Return why a pattern matches no file, and what to do."""
    path = named(os.path.expanduser(pattern))  # noqa: PTH111 (a glob)
    try:
        if path is not None and os.path.isdir(path):  # noqa: PTH112
            return f"{pattern}: a folder without a text in it; texts end in one of {LIST}"
        if path is not None and not S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return f"{pattern}: a pipe or a device, and texts are read several times: write it to a file, and name that"
    except OSError as error:
        if error.errno != ENOENT:
            return f"{pattern}: it cannot be read ({error.strerror})"
    return f"no file matches {pattern!r}"


def _of_pattern(pattern: str) -> Iterator[str]:
    path = named(pattern)
    if path is None or path.rstrip("/").lower().endswith(PARTED) or not os.path.isdir(path):  # noqa: PTH112
        yield from _matches(pattern)
        return
    for file in _matches(f"{escape(path.rstrip('/'))}/**"):
        if format_of(file) in KNOWN and not _DESCRIPTION.fullmatch(os.path.basename(file)):  # noqa: PTH119
            yield file


def _matches(pattern: str, base: str = "") -> Iterator[str]:
    """Yield what matches a glob in the folder `base`; a path may come several times."""
    parts = pattern.split("/")
    place = parts.index("**") if "**" in parts else len(parts)
    head, rest = "/".join(parts[:place]), "/".join(parts[place + 1 :] or ["*"]).lstrip("/")
    if place == len(parts):
        yield from (base + match for match in glob(pattern, root_dir=base or None))  # noqa: PTH207 (no path yet)
        return
    for start in glob(f"{head}/", root_dir=base or None) if place else [""]:  # noqa: PTH207
        for folder in _folders(base + start):
            yield from _matches(rest, folder)


def _folders(base: str) -> Iterator[str]:
    """Yield a folder and all below it, with a slash at the end; those that are no links first, hidden ones not."""
    waiting, seen = [(False, base)], set()
    while waiting:
        folder = heapq.heappop(waiting)[1]
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        yield folder
        with suppress(OSError), os.scandir(folder or ".") as entries:  # one that cannot be read matches nothing
            for entry in entries:
                if entry.is_dir() and not entry.name.startswith("."):
                    heapq.heappush(waiting, (entry.is_symlink(), f"{folder}{entry.name}/"))
