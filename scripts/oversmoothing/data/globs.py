"""Files that globs match: each file once, whatever links lead to it, and in place of a folder of parts these."""

import heapq
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from glob import escape, glob

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # a line break, or no character at all in a path

# Spark writes a folder of this ending with parts in it, and marks beside them.
PARTED = (".parquet", ".pq", ".json", ".jsonl", ".ndjson")
_MARK = re.compile(r"_(SUCCESS|(common_)?metadata|(committed|started)_\w+)")


def matching_files(patterns: Iterable[str]) -> list[str]:
    """Return the files that match any of the globs, sorted by path; of several paths to one file, the first.

    Globs are those of `glob.glob`, but ``**`` enters each folder once, so that links in a circle end.
    """
    matches = {path for pattern in patterns for path in _matches(os.path.expanduser(pattern))}  # noqa: PTH111 (a glob)
    parted = [path for path in matches if path.rstrip("/").lower().endswith(PARTED) and os.path.isdir(path)]  # noqa: PTH112
    matches.update(part for path in parted for part in glob(f"{escape(path.rstrip('/'))}/[!_]*"))  # noqa: PTH207
    files: dict[str, str] = {}
    for path in sorted(matches):
        if os.path.isfile(path) and not _MARK.fullmatch(os.path.basename(path)):  # noqa: PTH113, PTH119
            files.setdefault(os.path.realpath(path), path)
    return list(files.values())


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
