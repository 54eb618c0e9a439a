"""Files from the Hugging Face hub, in its own cache on this machine, and their manifests, through which they are read.

A revision such as ``main`` is resolved to its commit, which the manifest records. The cache keeps the hub's list of a
commit's files, and names each file after its checksum: each file is compared with them.
"""

import fcntl
import logging
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from oversmoothing.hub.cache import COMMIT, check_links, lacking, snapshot_of
from oversmoothing.hub.listing import MissingRevisionError, Repository, asking, list_files, matches, resolve
from oversmoothing.hub.manifest import MODEL_FILES, MODEL_NEEDS, TOKENIZER_FILES
from oversmoothing.hub.other_formats import instead_of_safetensors
from oversmoothing.jobs import UserError
from oversmoothing.store.provenance import sha256

logger = logging.getLogger(__name__)

LARGE = re.compile("[0-9a-f]{64}")  # checksum of a large file, which is its SHA-256; of others it is Git's
CACHE_NEEDS = MODEL_NEEDS + TOKENIZER_FILES  # whoever loads a model alone leaves its tokenizer on the hub


def fetch(
    repository: Repository,
    patterns: Sequence[str],
    needed: Sequence[str] | None = None,
    otherwise: str | None = None,
) -> dict[str, Any]:
    """Return the manifest of the files of a repository that match `patterns`; download what the hub's cache lacks.

    Wildcards are allowed in the last component only. Each pattern of `needed` (by default of `patterns`) must match a
    file. If all are in the cache, nothing is asked of the hub, so a branch is what it was when it was last downloaded.
    Where the hub has no such revision, `otherwise` is fetched, and ``instead_of`` in the manifest names the one asked
    for. ``folder`` is the snapshot in the cache.
    """
    asked = repository.revision
    folder = cached(repository, CACHE_NEEDS if patterns == MODEL_FILES else patterns)
    if folder is None:
        try:
            commit = resolve(repository)
        except MissingRevisionError:
            if otherwise is None:
                raise
            missing, repository = repository, replace(repository, revision=otherwise)
            commit = resolve(repository)
            logger.warning("%s: the hub has no such revision; reading %s instead: %s", missing, otherwise, commit)
        listed = list_files(repository, commit, patterns, patterns if needed is None else needed)
        if not listed:
            raise UserError(f"{repository}: it contains nothing that this workflow can read")
        logger.info("%s is %s: %d files", repository, commit, len(listed))
        folder = _download(repository, commit, listed)
    files = _checked(repository, folder, patterns)
    named = {"repository": repository.name, "kind": repository.kind, "revision": repository.revision}
    named |= {"instead_of": asked} if repository.revision != asked else {}
    return {**named, "commit": folder.name, "folder": str(folder), "files": files}


def cached(repository: Repository, needed: Sequence[str]) -> Path | None:
    """Return the snapshot of a revision in the hub's own cache on this machine; None if it lacks what is needed."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HFValidationError, IncompleteSnapshotError, LocalEntryNotFoundError

    if ".." in repository.revision:  # no name of a revision, but one that leads out of the cache
        return None
    name, kind, revision = repository.name, repository.kind, repository.revision
    try:
        folder = Path(snapshot_download(name, repo_type=kind, revision=revision, local_files_only=True))
    except IncompleteSnapshotError as error:  # it may have all that is needed
        folder = Path(error.snapshot_path)
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    except UnicodeDecodeError as error:
        cache = constants.HF_HUB_CACHE
        raise UserError(
            f"{repository}: its refs in {cache} are damaged ({error}); delete them and run again"
        ) from error
    if not COMMIT.fullmatch(folder.name):
        return None
    if missing := lacking(folder, needed):
        logger.warning("%s: it has no %s, so it is fetched; to read it as it is, name this folder", folder, missing)
        return None
    if snapshot_of(folder):
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


def _download(repository: Repository, commit: str, files: Collection[str], again: bool = False) -> Path:
    """Download files unless they are in the cache, or `again` all the same; return the folder of the snapshot."""
    from huggingface_hub import snapshot_download

    name, kind, only = repository.name, repository.kind, [escape(file) for file in files]
    with asking(repository):
        got = snapshot_download(name, repo_type=kind, revision=commit, allow_patterns=only, force_download=again)
    folder = Path(got)
    if missing := [file for file in files if not (folder / file).is_file()]:  # as it may be if the network fails midway
        raise UserError(f"{repository}: {missing[0]} was not fetched; run again with network access")
    return folder


def _checked(repository: Repository, folder: Path, patterns: Sequence[str]) -> dict[str, Any]:
    """Return size and SHA-256 of a snapshot's files; what is not as the hub describes it is fetched again, once."""
    damaged: list[str] = []
    for again in (True, False):
        files, listed = take_stock(folder, patterns)["files"], _listed(repository, folder.name)
        sums = {file: listed.get(file) or checksum_of(folder / file) for file in files}
        damaged = [file for file in files if not is_whole(folder / file, files[file]["sha256"], sums[file])]
        if not damaged:
            return files
        for file in damaged if again else ():
            logger.warning("%s: not as the hub describes it; fetching it again", folder / file)
        if again:
            try:
                list_files(repository, folder.name, damaged, damaged)  # without the hub, no file is touched
                for file in damaged:
                    (folder / file).unlink()  # huggingface_hub leaves a file or a link that is there
                _download(repository, folder.name, damaged, again)
            except UserError as error:
                raise damage(repository, folder.name, folder, damaged[0]) from error
    raise damage(repository, folder.name, folder, damaged[0])


def _listed(repository: Repository, commit: str) -> dict[str, str]:
    """Return the checksums of a commit's files as the hub has listed them; none if its cache holds no list."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    with suppress(CachedRepoTreeNotFoundError):
        tree = get_cached_repo_tree(repository.name, repo_type=repository.kind, revision=commit)
        return {file.path: file.lfs.sha256 if file.lfs else file.blob_id for file in tree}
    return {}


def is_whole(path: Path, digest: str, checksum: str) -> bool:
    """Return whether a file, whose SHA-256 is `digest`, has a checksum of the hub: SHA-256 if it is large, or Git's."""
    from huggingface_hub.utils.sha import git_hash

    if LARGE.fullmatch(checksum):
        return digest == checksum
    return bool(checksum) and git_hash(path.read_bytes()) == checksum


def checksum_of(path: Path) -> str:
    """Return the checksum that names what a file in the cache links to; "" for any other file."""
    name = path.readlink().name if path.is_symlink() else ""
    return name if LARGE.fullmatch(name) or COMMIT.fullmatch(name) else ""


def damage(repository: Repository, commit: str, folder: Path, file: str) -> UserError:
    """Return the error about a file in the cache that is damaged and cannot be fetched again now."""
    how = f"hf download {repository.name} {file} --repo-type {repository.kind} --revision {commit}"
    return UserError(
        f"{folder / file}: damaged, its checksum is not that of the hub; run `{how} --force-download` with network "
        "access"
    )


def _files_in(folder: Path) -> Iterator[str]:
    """Yield the paths of the files under a folder, except huggingface_hub's own bookkeeping."""
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if path.is_file() and relative.parts[0] != ".cache":
            yield relative.as_posix()
