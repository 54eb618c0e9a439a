"""Download of FineWeb, or of another corpus of Parquet shards on the hub.

Only this step needs the network. It writes a manifest of the local files, from which `shards` builds the corpus.
"""

import difflib
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from oversmoothing.data.shards import ROLES
from oversmoothing.data.stream import stream_texts
from oversmoothing.hub.client import alone_in, fetch, sha256, take_stock
from oversmoothing.hub.listing import Repository, list_files, resolve
from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.provenance import digest

logger = logging.getLogger(__name__)


def fetch_shards(settings: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Download the shards of a corpus.

    Parameters
    ----------
    settings : mapping
        ``repository``: on the hub, or a local folder with the same paths inside (it begins with ``/``, ``.`` or
        ``~``), which is used in place; ``revision``; ``column``; ``train`` and ``evaluation``: lists of shards;
        ``train_bytes`` and ``evaluation_bytes``: bytes of text from their beginning, or None for whole shards.
    folder : str or Path
        Where downloaded files are stored; files that other configs fetched are kept.

    Returns
    -------
    dict
        A manifest as from `hub.fetch` (``repository``, ``revision``, ``commit``, ``folder``, ``files``) and, for each
        role, its ``shards``, the paths in `folder` of their ``texts``, and the ``budget`` in bytes.

    Raises
    ------
    UserError
        Under the conditions of `hub.fetch` and `stream.stream_texts`, or if a local folder lacks a shard.
    """
    if settings["repository"].startswith(("/", ".", "~")):
        return {**_local(settings), **_roles(settings)}
    named = Repository(settings["repository"], settings["revision"], "dataset")
    repository = Repository(named.name, resolve(named), "dataset")
    for file in (file for role in ROLES for file in settings[role]):
        _check_listed(repository, named, file)
    whole = [file for role in ROLES for file in settings[role] if settings[f"{role}_bytes"] is None]
    fetched = fetch(repository, whole, folder, needed=whole, tidy=False) if whole else {"files": {}}
    roles = _roles(settings)
    for role in ROLES:
        budget = settings[f"{role}_bytes"]
        if budget is not None:
            name = (
                f"first-bytes/{digest([repository.revision, settings[role], settings['column']])[:12]}-{budget}.parquet"
            )
            path = Path(folder) / name
            with alone_in(folder):
                checksum = _first_bytes(repository, settings[role], settings["column"], budget, path)
            fetched["files"][name] = {"size": path.stat().st_size, "sha256": checksum}
            roles[role]["texts"] = [name]
    return {
        "repository": named.name,
        "kind": "dataset",
        "revision": named.revision,
        "commit": repository.revision,
        "folder": str(folder),
        "files": fetched["files"],
        **roles,
    }


def _first_bytes(repository: Repository, files: Sequence[str], column: str, budget: int, path: Path) -> str:
    """Download the first texts of some files into one; return its SHA-256, which is also stored beside it."""
    beside = path.with_suffix(".sha256")
    if path.is_file():
        found = sha256(path)
        if beside.is_file() and beside.read_text(encoding="utf-8") == f"{found}\n":
            logger.info("%s: already here", path)
            return found
        logger.warning("%s: not what %s says was written; fetching it again", path, beside.name)
    stream_texts(repository, files, column, budget, path)
    found = sha256(path)
    with atomic_path(beside) as temporary:
        temporary.write_text(f"{found}\n", encoding="utf-8")
    return found


def _roles(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        role: {"shards": settings[role], "texts": settings[role], "budget": settings[f"{role}_bytes"]} for role in ROLES
    }


def _local(settings: Mapping[str, Any]) -> dict[str, Any]:
    folder = Path(settings["repository"]).expanduser()
    wanted = [file for role in ROLES for file in settings[role]]
    for file in wanted:
        if not (folder / file).is_file():
            there = [path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")]
            raise UserError(f"corpus.fineweb: the folder {folder} has no file {file}{_near(file, there)}")
    files = take_stock(folder, wanted)["files"]
    return {"repository": folder.name, "revision": None, "commit": None, "folder": str(folder), "files": files}


def _check_listed(repository: Repository, named: Repository, file: str) -> None:
    """Check that the hub has a shard before any other is downloaded."""
    if not list_files(repository, repository.revision, [file]):
        beside = list_files(repository, repository.revision, [f"{PurePosixPath(file).parent}/*.parquet"])
        raise UserError(f"corpus.fineweb: {named} has no file {file}{_near(file, [other.path for other in beside])}")


def _near(file: str, there: list[str]) -> str:
    near = difflib.get_close_matches(file, there, n=3) or sorted(there)[:3]
    return f"; there are {', '.join(near)}" if near else ""
