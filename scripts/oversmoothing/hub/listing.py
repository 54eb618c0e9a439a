"""What a repository on the Hugging Face hub has: the commit of a revision and its files, as huggingface_hub lists them.

huggingface_hub is imported where it is called: whoever reads only what was fetched does without it.
"""

import difflib
import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

from oversmoothing.hub.other_formats import instead_of_safetensors
from oversmoothing.jobs import UserError, file_fault

REFUSED = (401, 403)  # states of an answer: no valid token, and one without the right
LOG_IN = "set HF_TOKEN or run `hf auth login`"


class MissingRevisionError(UserError):
    """The repository exists on the hub, but the revision does not."""


class UnreachableError(UserError):
    """The hub cannot be reached, for the reason that is its cause."""


@dataclass(frozen=True)
class Repository:
    """A repository on the hub."""

    name: str  # ``owner/name``, or just ``name`` for some old ones
    revision: str = "main"  # a branch, a tag or a commit
    kind: str = "model"  # or "dataset"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}@{self.revision}"


def resolve(repository: Repository) -> str:
    """Return the commit that a revision refers to; where the hub cannot be reached, that of the last download."""
    from huggingface_hub import HfApi

    with asking(repository):
        name, kind = repository.name, repository.kind
        return HfApi().resolve_revision(name, repo_type=kind, revision=repository.revision).resolved


def list_files(
    repository: Repository, commit: str, patterns: Sequence[str], needed: Iterable[str] = ()
) -> dict[str, str]:
    """Return by path the checksum, SHA-256 of a large file and Git's of any other, of files that match a pattern.

    Wildcards are allowed in the last component only. Each pattern of `needed` must match a file.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    there = {}
    for folder in sorted({PurePosixPath(pattern).parent.as_posix() for pattern in patterns}):
        under = None if folder == "." else folder
        with asking(repository):
            for file in HfApi().list_repo_tree(repository.name, under, revision=commit, repo_type=repository.kind):
                if isinstance(file, RepoFile):
                    there[file.path] = file.lfs.sha256 if file.lfs else file.blob_id
    for pattern in needed:
        if not any(matches(path, pattern) for path in there):
            hint = instead_of_safetensors(there) or near(pattern, there)
            raise UserError(f"{repository}: it has no file {pattern}{hint}")
    return {path: there[path] for path in sorted(there) if any(matches(path, pattern) for pattern in patterns)}


def matches(path: str, pattern: str) -> bool:
    """Return whether a path matches a pattern, whose wildcards do not match ``/``."""
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def near(file: str, there: Iterable[str]) -> str:
    """Return what to add to an error about a missing file: the names most like it."""
    found = difflib.get_close_matches(file, list(there), n=3) or sorted(there)[:3]
    return f"; there are {', '.join(found)}" if found else ""


@contextmanager
def asking(repository: Repository) -> Iterator[None]:
    """Translate what huggingface_hub raises into a `UserError`: one line that says what to do."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import RevisionResolutionError

    try:
        yield
    except (HTTPError, RevisionResolutionError, OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        # Of a file that is neither on the hub nor in its cache, why the hub was not asked is the cause.
        reason = error if isinstance(error, HTTPError) or error.__cause__ is None else error.__cause__
        raise _explained(repository, reason) from reason


def _explained(repository: Repository, error: BaseException) -> UserError:
    from httpx2 import HTTPError
    from huggingface_hub import errors

    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    match error:
        case errors.GatedRepoError():
            what = f"gated: accept its terms on its page on the hub, then {LOG_IN}, and run again"
        case errors.RevisionNotFoundError():
            missing = f"the repository has no revision {repository.revision!r}; name another in the config"
            return MissingRevisionError(f"{repository}: {missing}")
        case errors.RepositoryNotFoundError():
            what = f"no such repository on the hub, or a private one: check its name, and for a private one {LOG_IN}"
        case errors.RemoteEntryNotFoundError():
            what = f"the repository lacks a file or folder: {line}"
        case errors.HFValidationError():
            what = f"not a valid repository name: {line}"
        case errors.OfflineModeIsEnabled():
            what = "HF_HUB_OFFLINE is set, and it is not in the hub's cache here; unset it to fetch"
        case errors.HfHubHTTPError() if error.response.status_code in REFUSED:
            what = f"the hub refuses access ({line}); it is gated or private, or the token not valid: accept its "
            what += f"terms on its page, then {LOG_IN}"
        case _ if not isinstance(error, HTTPError) and (fault := file_fault(error)):
            return UserError(f"{getattr(error, 'filename', None) or repository}: {fault}")
        case HTTPError() | OSError() | RuntimeError():  # the last of hf_xet
            where = "run `snakemake assets` with network access; files that are complete are kept"
            return UnreachableError(f"{repository}: the hub cannot be reached ({line}); {where}")
        case _:
            what = f"the hub's answer cannot be used ({line})"
    return UserError(f"{repository}: {what}")
