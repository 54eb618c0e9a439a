"""Files from the Hugging Face hub: fetched once on a machine with network access, then read offline through a manifest.

A revision such as ``main`` is resolved to its commit, which the manifest records. Every file is checked against the
checksum given by the hub when fetched, and against the manifest's before it is read. The hub's own client restarts an
interrupted download from the beginning in the next run; here the partial file (``.part``) is kept and resumed.
"""

import fcntl
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from huggingface_hub import hf_hub_url, snapshot_download
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import build_hf_headers
from huggingface_hub.utils.sha import git_hash

from oversmoothing.hub.cache import again, check_links, lacking, snapshot_of
from oversmoothing.hub.formats import instead_of_safetensors
from oversmoothing.hub.listing import (
    ListedFile,
    MissingRevisionError,
    Repository,
    list_files,
    matches,
    patiently,
    resolve,
)
from oversmoothing.jobs import UserError
from oversmoothing.store.provenance import sha256

logger = logging.getLogger(__name__)

# The files of a causal language model. Pickled weights and code are never fetched.
MODEL_FILES = (
    *("config.json", "generation_config.json", "model*.safetensors", "model.safetensors.index.json"),
    *("tokenizer*.json", "tokenizer*.model", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "merges.txt"),
)
MODEL_NEEDS = ("config.json", "model*.safetensors")
TOKENIZER_FILES = ("tokenizer.json",)
CACHE_NEEDS = MODEL_NEEDS + TOKENIZER_FILES  # whoever loads a model alone leaves its tokenizer on the hub
OTHERS = ("pytorch_model*.bin", "*.gguf")  # listed beside them, for a message that says what there is


def fetch(
    repository: Repository,
    patterns: Sequence[str],
    folder: str | Path,
    needed: Sequence[str] | None = None,
    tidy: bool = True,
    otherwise: str | None = None,
) -> dict[str, Any]:
    """Download the files of a repository that match `patterns`, and return their manifest.

    Wildcards are allowed in the last component only, as in ``sample/10BT/*.parquet``. Files keep their paths in the
    repository; files already present as the hub describes them are kept, and with `tidy` all others in the folder are
    deleted. Each pattern of `needed` (by default of `patterns`) must match a file. Where the hub has no such revision,
    `otherwise` is fetched, and ``instead_of`` in the manifest names the one asked for. The same commit gives the same
    manifest. Raises `UserError`, also if the repository is gated or a file is not as the hub describes it.
    """
    folder = Path(folder)
    asked = repository.revision
    try:
        commit = resolve(repository)
    except MissingRevisionError:
        if otherwise is None:
            raise
        missing, repository = repository, replace(repository, revision=otherwise)
        commit = resolve(repository)
        logger.warning("%s: the hub has no such revision; reading %s instead: %s", missing, otherwise, commit)
    others = OTHERS if repository.kind == "model" else ()
    there = {file.path: file for file in list_files(repository, commit, [*patterns, *others])}
    listed = {path: file for path, file in there.items() if any(matches(path, pattern) for pattern in patterns)}
    for pattern in patterns if needed is None else needed:
        if not any(matches(path, pattern) for path in listed):
            hint = instead_of_safetensors(there) or "; it contains nothing that this workflow can read"
            raise UserError(f"{repository}: it has no file {pattern}{hint}")
    logger.info("%s is %s: %d files, %d bytes", repository, commit, len(listed), sum(f.size for f in listed.values()))
    files = {}
    with alone_in(folder):
        for path, file in sorted(listed.items()):
            files[path] = {"size": file.size, "sha256": _download(repository, commit, file, folder)}
            logger.info("%s: %d bytes", path, file.size)
        for stale in _files_in(folder) if tidy else ():
            if stale not in files:
                (folder / stale).unlink()
    named = {"repository": repository.name, "kind": repository.kind, "revision": repository.revision}
    named |= {"instead_of": asked} if repository.revision != asked else {}
    return {**named, "commit": commit, "files": files}


def from_cache(repository: Repository, patterns: Sequence[str]) -> dict[str, Any] | None:
    """Return the manifest of a repository's files in the hub's own cache on this machine; None if one is missing there.

    ``folder`` is the snapshot, and each file is checked against the checksum that is its name in the cache. Nothing is
    asked of the hub, so a branch is what it was when it was last downloaded.
    """
    folder = cached(repository, CACHE_NEEDS if patterns == MODEL_FILES else patterns)
    if folder is None:
        return None
    stock = take_stock(folder, patterns)
    for path, facts in stock["files"].items():
        digest = (folder / path).resolve().name  # of a large file
        if len(digest) == len(facts["sha256"]) and digest != facts["sha256"]:
            raise UserError(f"{folder / path}: not as the hub described it (its checksum differs); {again(folder)}")
    named = {"repository": repository.name, "kind": repository.kind, "revision": repository.revision}
    return {**named, "commit": folder.name, **stock}


def cached(repository: Repository, needed: Sequence[str]) -> Path | None:
    """Return the snapshot of a revision in the hub's own cache on this machine; None if it is not there and whole."""
    if ".." in repository.revision:  # no name of a revision, but one that leads out of the cache
        return None
    try:
        name, kind = repository.name, repository.kind
        folder = Path(snapshot_download(name, repo_type=kind, revision=repository.revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    if snapshot_of(folder) is None:
        return None
    if missing := lacking(folder, needed):
        logger.warning("%s: it has no %s, so it is fetched; to read it as it is, name this folder", folder, missing)
        return None
    check_links(folder)
    return folder


def take_stock(folder: str | Path, patterns: Sequence[str], needed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the manifest, ``folder`` and ``files``, of a user's folder, which must match all of `needed`."""
    folder = Path(folder)
    paths = sorted(path for path in _files_in(folder) if any(matches(path, pattern) for pattern in patterns))
    for pattern in needed:
        if not any(matches(path, pattern) for path in paths):
            hint = instead_of_safetensors(_files_in(folder))
            raise UserError(f"{folder}: it has no file {pattern} (relative to {Path.cwd()}){hint}")
    files = {path: {"size": (folder / path).stat().st_size, "sha256": sha256(folder / path)} for path in paths}
    return {"folder": str(folder), "files": files}


@contextmanager
def alone_in(folder: str | Path) -> Iterator[None]:
    """Hold a lock on a folder, so that only one process at a time writes into it; the others wait."""
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("%s: waiting for another process that is fetching into it", folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            logger.warning("%s: no locks on this file system (%s); fetch with one process at a time", folder, error)
        yield


def _download(repository: Repository, commit: str, file: ListedFile, folder: Path) -> str:
    """Download one file unless it is present; return its SHA-256 once it matches the hub's description."""
    path = folder / file.path
    if path.is_file() and (digest := _checked(path, file)):
        return digest
    path.parent.mkdir(parents=True, exist_ok=True)
    # Named after the content, so that a partial file of another version is not resumed.
    part = path.with_name(f".{path.name}.{file.blob_id[:12]}.part")
    for _ in range(2):
        patiently(repository, lambda: _continue(repository, commit, file, part))
        if digest := _checked(part, file):
            part.replace(path)
            return digest
        part.unlink()
        logger.warning("%s: not as the hub describes it; fetching it again", path)
    raise UserError(f"{repository}: {file.path} was damaged in transfer; run again, or from another network")


def _continue(repository: Repository, commit: str, file: ListedFile, part: Path) -> None:
    """Fetch the rest of a partial file."""
    done = part.stat().st_size if part.is_file() else 0
    if done:
        logger.info("%s: resuming after %d of %d bytes", file.path, done, file.size)
    with part.open("ab") as opened:
        if done < file.size:
            http_get(
                hf_hub_url(repository.name, file.path, repo_type=repository.kind, revision=commit),
                _Limited(opened, file.size, f"{repository}: {file.path}"),  # type: ignore[arg-type]
                resume_size=done,
                headers=build_hf_headers(),
                expected_size=file.size,
                displayed_filename=file.path,
            )


class _Limited:
    """A file that is written no further than a size; everything else is the file's own."""

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file, self._size, self._name = file, size, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        if self._file.tell() + len(data) > self._size:
            self._file.truncate(0)  # nothing of it can be used
            fault = f"the hub lists {self._size:,} bytes and sends more"
            raise UserError(f"{self._name}: {fault}; run again, or from another network")
        return self._file.write(data)


def _checked(path: Path, file: ListedFile) -> str | None:
    """Return a file's SHA-256 if it is as the hub describes it."""
    if path.stat().st_size != file.size:
        return None
    digest = sha256(path)
    return digest if (digest == file.sha256 if file.sha256 else git_hash(path.read_bytes()) == file.blob_id) else None


def _files_in(folder: Path) -> Iterator[str]:
    """Yield the paths of the files under a folder, except huggingface_hub's own bookkeeping."""
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if path.is_file() and relative.parts[0] != ".cache":
            yield relative.as_posix()
