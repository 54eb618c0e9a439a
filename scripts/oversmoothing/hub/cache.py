"""Models in the hub's own cache on this machine, ``models--owner--name/snapshots/COMMIT``, found by their paths alone.

The files of a snapshot are links to those in ``blobs`` of the same repository, which may be links to those in
``blobs`` of the cache, and ``refs/main`` names its commit.
"""

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from oversmoothing.hub.other_formats import CONVERSIONS, other_format
from oversmoothing.jobs import UserError

REPOSITORY, SNAPSHOTS = "models--", "snapshots"
COMMIT = re.compile(r"[0-9a-f]{40}")
INDEX = "model.safetensors.index.json"


class Snapshot(NamedTuple):
    """What the path of a snapshot says."""

    repository: str  # owner/name
    commit: str
    root: Path  # of all that belongs to the repository


def snapshot_of(folder: str | Path) -> Snapshot | None:
    """Return what a folder is a snapshot of; None for any other folder."""
    folder = Path(folder).resolve()
    root = folder.parent.parent
    if folder.parent.name == SNAPSHOTS and root.name.startswith(REPOSITORY) and COMMIT.fullmatch(folder.name):
        return Snapshot(root.name.removeprefix(REPOSITORY).replace("--", "/"), folder.name, root)
    return None


def newest(folder: Path) -> Path:
    """Return the snapshot that is main of a repository's folder in the cache, if it has one; else the folder."""
    main = folder / "refs/main"
    if not (folder.name.startswith(REPOSITORY) and main.is_file()):
        return folder
    commit = main.read_text(encoding="utf-8", errors="replace").strip()
    return folder / SNAPSHOTS / commit if COMMIT.fullmatch(commit) else folder


def check_links(folder: Path) -> None:
    """Raise a `UserError` unless a folder exists and its links lead to files in it or, of a snapshot, to blobs."""
    if folder.is_file():
        kind = other_format(folder)
        name = f"{kind}: {CONVERSIONS[kind]}" if kind else "a file: name the folder of a model, with its config.json"
        raise UserError(f"{folder}: {name}")
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder (searched from {Path.cwd()})")
    if folder.name.startswith(REPOSITORY) and (folder / SNAPSHOTS).is_dir():
        raise UserError(f"{folder}: its refs/main names no commit; name a folder in its {SNAPSHOTS}")
    snapshot = snapshot_of(folder)
    inside = (snapshot.root, snapshot.root.with_name("blobs")) if snapshot else (folder.resolve(),)
    for path in sorted(folder.iterdir()):
        if not path.is_symlink():
            continue
        try:
            leads = path.resolve(strict=True)
        except (OSError, RuntimeError):
            raise UserError(f"{path}: a link to no file; {again(folder)}") from None
        if not any(map(leads.is_relative_to, inside)):
            raise UserError(f"{path}: a link that leads out of the folder; copy the folder with `cp -rL` and name that")


def lacking(folder: Path, needed: Collection[str]) -> str | None:
    """Return the first file, or pattern of files, that a model's folder lacks of those `needed` or in its index."""
    missing = [pattern for pattern in needed if not any(path.is_file() for path in folder.glob(pattern))]
    try:
        shards = set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
        missing += sorted(shard for shard in shards if not (folder / shard).is_file())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # without an index, or a damaged one, which its reader names
    return next(iter(missing), None)


def again(folder: Path) -> str:
    """Return how to get a model's folder whole."""
    snapshot = snapshot_of(folder)
    how = f"hf download {snapshot.repository} --revision {snapshot.commit}" if snapshot else ""
    return f"run `{how}` with network access" if snapshot else "copy or fetch the model again"
