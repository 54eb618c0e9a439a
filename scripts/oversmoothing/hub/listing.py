"""Files of a Hugging Face hub repository at a commit, as listed by the hub; malformed answers are rejected.

The token is sent to the hub only: neither a listing that continues on another host nor a redirect receives it. Requests
and tokens are huggingface_hub's. Its `list_repo_tree` (2.4.0) follows a listing to any host with the token, and without
end, and fails on a malformed entry with a `KeyError`.
"""

import fnmatch
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from httpx2 import HTTPError, Response
from huggingface_hub import constants
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status, http_backoff, validate_repo_id

from oversmoothing.jobs import UserError, file_fault

logger = logging.getLogger(__name__)

ATTEMPTS = 4  # per request, in addition to huggingface_hub's own retries
WAIT = 2.0  # seconds before the second attempt; doubled before each further one
PAGES = 1000  # per listing, each of about a thousand files
REFUSED = (401, 403)  # states of an answer: no valid token, and one without the right
LOG_IN = "set HF_TOKEN or run `hf auth login`"
DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

T = TypeVar("T")


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


@dataclass(frozen=True)
class ListedFile:
    """A file as listed by the hub."""

    path: str  # in the repository
    size: int  # bytes
    blob_id: str  # Git's, of the content or of the pointer to it
    sha256: str | None  # of a large file; a small one has its `blob_id` alone


def resolve(repository: Repository) -> str:
    """Return the commit that a revision currently refers to; a `UserError` if the hub does not say."""
    url = f"{_address(repository)}/revision/{quote(repository.revision, safe='')}"

    def ask() -> Any:
        validate_repo_id(repository.name)
        return _answer(repository, get_session().get(url, headers=build_hf_headers()))

    answer = patiently(repository, ask)
    commit = answer.get("sha") if isinstance(answer, dict) else None
    if not isinstance(commit, str) or not DIGEST.fullmatch(commit):
        raise UserError(f"{repository}: the hub gives no commit for it; specify a commit as its revision")
    return commit


def list_files(repository: Repository, commit: str, patterns: Sequence[str]) -> list[ListedFile]:
    """Return the files of a commit that match a pattern."""
    listed = []
    for folder in sorted({PurePosixPath(pattern).parent.as_posix() for pattern in patterns}):
        under = "" if folder == "." else f"{folder}/"
        entries = patiently(repository, lambda under=under: list(_entries(repository, commit, under)))  # type: ignore[misc]
        for entry in entries:
            path = _plain_path(repository, entry, under)
            if path is not None and any(matches(path, pattern) for pattern in patterns):
                listed.append(_listed(repository, path, entry))
    return listed


def matches(path: str, pattern: str) -> bool:
    """Return whether a path matches a pattern, whose wildcards do not match ``/``."""
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def patiently(repository: Repository, call: Callable[[], T]) -> T:
    """Call the hub, retrying after temporary failures, and translate its errors to `UserError`."""
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except GatedRepoError as error:
            raise UserError(
                f"{repository}: gated: accept its terms on its page on the hub, then {LOG_IN}, and run again"
            ) from error
        except RevisionNotFoundError as error:
            raise MissingRevisionError(
                f"{repository}: the repository has no revision {repository.revision!r}; name another in the config"
            ) from error
        except RepositoryNotFoundError as error:
            fault = "no such repository on the hub, or a private one"
            raise UserError(f"{repository}: {fault}; check the spelling, and for a private one {LOG_IN}") from error
        except HFValidationError as error:
            raise UserError(f"{repository}: not a valid repository name: {_line(error)}") from error
        except OfflineModeIsEnabled as error:
            raise UserError(f"{repository}: HF_HUB_OFFLINE is set; unset it to fetch") from error
        except (HTTPError, OSError) as error:
            if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
                raise UserError(f"{repository}: the repository lacks a file or folder: {_line(error)}") from error
            if isinstance(error, HfHubHTTPError) and error.response.status_code in REFUSED:
                raise UserError(
                    f"{repository}: the hub refuses access ({_line(error)}); it is gated or private, or the "
                    f"token not valid: accept its terms on its page, then {LOG_IN}"
                ) from error
            if isinstance(error, OSError) and error.errno and (of_file := file_fault(error)):
                raise UserError(f"{error.filename or repository}: {of_file}") from error
            if attempt == ATTEMPTS - 1:
                raise UnreachableError(
                    f"{repository}: the hub cannot be reached ({_line(error)}); run `snakemake assets` with network "
                    "access; what has already been downloaded is kept"
                ) from error
            logger.warning("%s: %s; trying again", repository, _line(error))
            time.sleep(WAIT * 2**attempt)
        except ValueError as error:
            raise UserError(f"{repository}: the hub's answer cannot be used ({_line(error)})") from error
    raise AssertionError("the last attempt returns or raises")


def _address(repository: Repository) -> str:
    return f"{constants.ENDPOINT}/api/{repository.kind}s/{repository.name}"


def _entries(repository: Repository, commit: str, under: str) -> Iterator[Any]:
    """Yield the hub's listing of a folder, page by page, following links on the hub itself only."""
    url = f"{_address(repository)}/tree/{commit}" + (f"/{quote(under[:-1], safe='')}" if under else "")
    seen: set[str] = set()
    while url not in seen:
        seen.add(url)
        if _origin(url) != _origin(constants.ENDPOINT):
            raise UserError(f"{repository}: its listing continues on another host, {_origin(url)[1]}, which is refused")
        response = http_backoff("GET", url, headers=build_hf_headers())
        page = _answer(repository, response)
        if not isinstance(page, list):
            raise UserError(f"{repository}: the hub's listing is {_shown(page)}, not a list of files")
        yield from page
        following = response.links.get("next", {}).get("url")
        if not following:
            return
        url = urljoin(str(response.url), following)
        if len(seen) == PAGES:
            break
    raise UserError(f"{repository}: the hub's listing does not end")


def _answer(repository: Repository, response: Response) -> Any:
    hf_raise_for_status(response)
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise UserError(f"{repository}: the hub's answer is not JSON ({_line(error)})") from error


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _plain_path(repository: Repository, entry: Any, under: str) -> str | None:
    """Return the path of an entry if it is a file; it must lie in the folder that was asked for."""
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        raise UserError(f"{repository}: the hub lists {_shown(entry)}, which is not a file")
    path = entry["path"]
    name = path.removeprefix(under)
    if not path.startswith(under) or not name or name in (".", "..") or set(name) & set("/\\\0\n"):
        raise UserError(f"{repository}: the hub lists {path!r}, which is not in the folder {under or '/'}")
    return path if entry.get("type") == "file" else None


def _listed(repository: Repository, path: str, entry: dict[str, Any]) -> ListedFile:
    size, blob_id, large = entry.get("size"), entry.get("oid"), entry.get("lfs")
    sha256 = large.get("oid") if isinstance(large, dict) else large
    sums = [blob_id] if large is None else [blob_id, sha256]
    if type(size) is not int or size < 0 or not all(isinstance(text, str) and DIGEST.fullmatch(text) for text in sums):
        raise UserError(f"{repository}: the hub lists {path} without its size and checksum ({_shown(entry)})")
    return ListedFile(path, size, str(blob_id), sha256)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:76]} ..."


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
