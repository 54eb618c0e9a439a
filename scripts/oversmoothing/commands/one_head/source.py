"""The files of models: a folder, or a name on the hub, fetched once and then read offline; and whether they fit."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.vocabulary import FAST, load_tokenizer, vocabulary_of
from oversmoothing.hub.client import MODEL_FILES, MODEL_NEEDS, fetch
from oversmoothing.hub.listing import Repository, UnreachableError
from oversmoothing.hub.manifest import asset_folder, read_asset
from oversmoothing.hub.names import as_folder, asset_name
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.folder import check_folder
from oversmoothing.models.truths.load import AUTO, Described, check_token_lm
from oversmoothing.store.sealed_json import write_sealed

MAIN = "main"
REMEDY = "run again with network access"


class Source(NamedTuple):
    """A model's folder; for one of the hub also its revision and commit."""

    folder: Path
    revision: str | None
    commit: str | None


def find_model(name: str, revision: str | None, assets: str | Path) -> Source:
    """Return where a model's files are: a folder, or in `assets`, where those of the hub are fetched to once."""
    folder = as_folder(name)
    if folder is not None:
        if revision is not None:
            raise UserError(f"--revision {revision}: {name} is a folder, and only models on the hub have revisions")
        check_folder(folder)
        return Source(folder, None, None)
    revision = revision or MAIN
    manifest = Path(assets) / f"{asset_name(name, revision)}.json"
    if not manifest.is_file():
        missing = f"{name}: no such folder (searched from {Path.cwd()})"
        try:
            fetched = fetch(Repository(name, revision), MODEL_FILES, manifest.with_suffix(""), MODEL_NEEDS)
        except UnreachableError as error:
            why = f"the hub cannot be reached ({error.__cause__}); name a folder, or {REMEDY}"
            raise UserError(f"{missing}, and {why}") from error
        except UserError as error:
            raise UserError(f"{missing}, and from the hub: {error}") from error
        write_sealed(manifest, fetched)
    return Source(asset_folder(manifest, REMEDY), revision, read_asset(manifest).get("commit"))


def described(folders: Mapping[str, Path], tokens_of: str, bos: int | str | None = AUTO) -> dict[str, Described]:
    """What the files of each model say, by what the user wrote, after all checks that need no weights.

    A `UserError` is raised if a tokenizer is not that of the model `tokens_of`, or a head cannot be measured.
    """
    path = folders[tokens_of] / FAST
    tokenizer = load_tokenizer(path)
    vocabulary = vocabulary_of(tokenizer, path)
    files = {name: check_token_lm(folder, name, vocabulary, bos) for name, folder in folders.items()}
    for name in set(folders) - {tokens_of}:
        check_alike(tokenizer, folders[name], name)
    return files
