"""Files from the Hugging Face hub: fetched once on a machine with the network, then read offline through a manifest.

A revision such as ``main`` is resolved to its commit, and the manifest says which one that was. Every file is held
against the checksum that the hub names. The hub's own client begins a broken download anew in the next run; here what
has arrived stays in a file ``.part``, and the next run goes on from it.
"""

import fnmatch
import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from httpx2 import HTTPError
from huggingface_hub import HfApi, hf_hub_url
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import http_get
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import build_hf_headers

from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

# What a causal language model consists of; weights that are pickled, and code, are never fetched.
MODEL_FILES = (
    "config.json",
    "generation_config.json",
    "model*.safetensors",
    "model.safetensors.index.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
)
MODEL_NEEDS = ("config.json", "model*.safetensors")
PICKLED = ("pytorch_model*.bin",)

ATTEMPTS = 4  # of a request, beside those that huggingface_hub makes
WAIT = 2.0  # seconds before the second attempt; twice as long before each further one
BLOCK = 1 << 22  # bytes hashed at a time

T = TypeVar("T")


class MissingRevisionError(UserError):
    """The hub has the repository, and says that it has no such revision."""


@dataclass(frozen=True)
class Repository:
    """A repository of the hub.

    Attributes
    ----------
    name : str
        ``owner/name``, or ``name`` alone for some old ones.
    revision : str
        A branch, a tag or a commit.
    kind : {"model", "dataset"}
    """

    name: str
    revision: str = "main"
    kind: str = "model"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}@{self.revision}"


def fetch(
    repository: Repository,
    patterns: Sequence[str],
    folder: str | Path,
    needed: Sequence[str] | None = None,
    tidy: bool = True,
    otherwise: str | None = None,
) -> dict[str, Any]:
    """Download the files of a repository that match a pattern, and say what they are.

    Files that are there already, as the hub describes them, are kept.

    Parameters
    ----------
    repository : Repository
    patterns : sequence of str
        Such as ``model*.safetensors`` or ``sample/10BT/*.parquet``: wildcards in the last part only.
    folder : path
        Where the files go, under their paths in the repository.
    needed : sequence of str, optional
        Patterns that must each match a file; by default all.
    tidy : bool
        Delete other files in the folder.
    otherwise : str, optional
        A revision to fetch where the hub says that it has not the one of `repository`; no other error leads to it.

    Returns
    -------
    dict
        A manifest: ``repository``, ``kind``, ``revision``, ``commit`` and ``files``, from path to ``size`` (bytes) and
        ``sha256``; with ``instead_of``, the revision asked for, where `otherwise` was fetched. The same commit gives
        the same manifest.

    Raises
    ------
    UserError
        If the hub cannot be reached, or has no such repository, revision or file; if the repository is gated, or a
        file does not come out as the hub describes it.
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
        logger.warning("%s: the hub has no such revision; %s is read in its place: %s", missing, otherwise, commit)
    pickled = PICKLED if repository.kind == "model" else ()
    found = {file.path: file for file in list_files(repository, commit, [*patterns, *pickled])}
    listed = {path: file for path, file in found.items() if any(_matches(path, pattern) for pattern in patterns)}
    for pattern in patterns if needed is None else needed:
        if not any(fnmatch.fnmatchcase(path, pattern) for path in listed):
            hint = _about_pickles(found) or "; there is nothing here that this workflow reads"
            raise UserError(f"{repository}: it has no file {pattern}{hint}")
    logger.info("%s is %s: %d files, %d bytes", repository, commit, len(listed), sum(f.size for f in listed.values()))
    files = {}
    for path, file in sorted(listed.items()):
        files[path] = {"size": file.size, "sha256": _download(repository, commit, file, folder)}
        logger.info("%s: %d bytes", path, file.size)
    for stale in _files_in(folder) if tidy else ():
        if stale not in files:
            (folder / stale).unlink()
    named = {"repository": repository.name, "kind": repository.kind, "revision": repository.revision}
    named |= {"instead_of": asked} if repository.revision != asked else {}
    return {**named, "commit": commit, "files": files}


def resolve(repository: Repository) -> str:
    """Return the commit that a revision stands for now (errors as `fetch`)."""
    info = patiently(
        repository,
        lambda: HfApi().repo_info(repository.name, repo_type=repository.kind, revision=repository.revision),
    )
    if not info.sha:
        raise UserError(f"{repository}: the hub names no commit for it; write a commit as its revision")
    return str(info.sha)


def list_files(repository: Repository, commit: str, patterns: Sequence[str]) -> list[RepoFile]:
    """List the files of a commit that match a pattern: their ``path``, ``size`` and checksums (errors as `fetch`)."""
    found = []
    for folder in sorted({PurePosixPath(pattern).parent.as_posix() for pattern in patterns}):
        under = None if folder == "." else folder
        entries = patiently(
            repository,
            lambda under=under: list(  # type: ignore[misc]
                HfApi().list_repo_tree(repository.name, under, revision=commit, repo_type=repository.kind)
            ),
        )
        found += [entry for entry in entries if isinstance(entry, RepoFile)]
    return [file for file in found if any(_matches(file.path, pattern) for pattern in patterns)]


def take_stock(folder: str | Path, patterns: Sequence[str], needed: Sequence[str] = ()) -> dict[str, Any]:
    """Make the manifest of a folder that the user brings: ``folder`` and ``files``.

    Raises
    ------
    UserError
        If a pattern of `needed` matches no file.
    """
    folder = Path(folder)
    paths = sorted(path for path in _files_in(folder) if any(_matches(path, pattern) for pattern in patterns))
    for pattern in needed:
        if not any(_matches(path, pattern) for path in paths):
            raise UserError(
                f"{folder}: it has no file {pattern} (searched in {Path.cwd()}){_about_pickles(_files_in(folder))}"
            )
    files = {path: {"size": (folder / path).stat().st_size, "sha256": sha256(folder / path)} for path in paths}
    return {"folder": str(folder), "files": files}


def asset_folder(manifest: str | Path) -> Path:
    """Return the folder of the files that a manifest lists, once all are seen to be there in their full size.

    Raises
    ------
    UserError
        If the manifest or one of the files is missing or damaged.
    """
    manifest = Path(manifest)
    try:
        known = json.loads(manifest.read_text(encoding="utf-8"))
        files, folder = known["files"], Path(known.get("folder") or manifest.with_suffix(""))
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{manifest}: no manifest of fetched files ({error}); delete it and run again") from error
    for path, facts in files.items():
        file = folder / path
        size = file.stat().st_size if file.is_file() else None
        if size != facts["size"]:
            state = "is missing" if size is None else f"has {size} bytes, not {facts['size']}"
            raise UserError(f"{file} {state}; delete {manifest} and run `snakemake assets` where the network is")
    return folder


def patiently(repository: Repository, call: Callable[[], T]) -> T:
    """Call the hub, again after a while where that may help, and turn its errors into ours (see `fetch`)."""
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except GatedRepoError as error:
            raise UserError(
                f"{repository}: gated: accept its terms on the hub's page of it, then set HF_TOKEN or run "
                "`hf auth login`, and run again"
            ) from error
        except RevisionNotFoundError as error:
            raise MissingRevisionError(
                f"{repository}: the repository has no revision {repository.revision!r}; name another in the config"
            ) from error
        except RepositoryNotFoundError as error:
            raise UserError(
                f"{repository}: no such repository on the hub, or a private one; mind the spelling, and for a private "
                "one set HF_TOKEN or run `hf auth login`"
            ) from error
        except HFValidationError as error:
            raise UserError(f"{repository}: not a name that the hub may have: {error}") from error
        except OfflineModeIsEnabled as error:
            raise UserError(f"{repository}: HF_HUB_OFFLINE is set; unset it to fetch") from error
        except (HTTPError, OSError) as error:
            if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
                raise UserError(f"{repository}: the repository lacks a file or folder: {_line(error)}") from error
            if "No space left on device" in str(error):
                raise UserError(f"{repository}: no space left on the disk; free some and run again") from error
            if attempt == ATTEMPTS - 1:
                raise UserError(
                    f"{repository}: the hub cannot be reached ({_line(error)}); run `snakemake assets` where the "
                    "network is; what has arrived is kept"
                ) from error
            logger.warning("%s: %s; trying again", repository, _line(error))
            time.sleep(WAIT * 2**attempt)
    raise AssertionError("the last attempt returns or raises")


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(repository: Repository, commit: str, file: RepoFile, folder: Path) -> str:
    """Download one file unless it is there; return its SHA-256 once it is what the hub says it is."""
    path = folder / file.path
    if path.is_file() and (found := _checked(path, file)):
        return found
    path.parent.mkdir(parents=True, exist_ok=True)
    # Named after the content, so that a part of another version is not continued.
    part = path.with_name(f".{path.name}.{file.blob_id[:12]}.part")
    for _ in range(2):
        patiently(repository, lambda: _continue(repository, commit, file, part))
        if found := _checked(part, file):
            part.replace(path)
            return found
        part.unlink()
        logger.warning("%s: not the file that the hub describes; fetching it again", path)
    raise UserError(f"{repository}: {file.path} arrives damaged; run again, or from another network")


def _continue(repository: Repository, commit: str, file: RepoFile, part: Path) -> None:
    """Fetch what a part still lacks."""
    done = part.stat().st_size if part.is_file() else 0
    if done:
        logger.info("%s: going on after %d of %d bytes", file.path, done, file.size)
    with part.open("ab") as opened:
        if done < file.size:
            http_get(
                hf_hub_url(repository.name, file.path, repo_type=repository.kind, revision=commit),
                opened,
                resume_size=done,
                headers=build_hf_headers(),
                expected_size=file.size,
                displayed_filename=file.path,
            )


def _checked(path: Path, file: RepoFile) -> str | None:
    """Return a file's SHA-256 if it is what the hub describes."""
    if path.stat().st_size != file.size:
        return None
    found = sha256(path)
    return found if (found == file.lfs.sha256 if file.lfs else _blob_id(path) == file.blob_id) else None


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _about_pickles(paths: Iterable[str]) -> str:
    """Say what to do where weights are there, but pickled."""
    if not any(_matches(path, pattern) for path in paths for pattern in PICKLED):
        return ""
    return (
        ", and pickled weights (.bin), which can run code, are never read: load the model where you trust it, "
        "`save_pretrained` it into a folder, and name that folder in the config"
    )


def _matches(path: str, pattern: str) -> bool:
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def _files_in(folder: Path) -> Iterator[str]:
    """Yield the paths of the files under a folder, without what huggingface_hub notes there for itself."""
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if path.is_file() and relative.parts[0] != ".cache":
            yield relative.as_posix()


def _blob_id(path: Path) -> str:
    """Return git's name for a file's content."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
