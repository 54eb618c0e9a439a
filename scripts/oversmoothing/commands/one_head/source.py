"""The files of models: a folder, a GGUF file, converted once, or a name on the hub, fetched once; checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from oversmoothing.commands.one_head.studied import load_studied
from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.vocabulary import (
    AUTO,
    BYTES,
    FAST,
    Vocabulary,
    byte_tokenizer,
    first_difference,
    load_tokenizer,
    vocabulary_of,
)
from oversmoothing.hub.cache import snapshot_of
from oversmoothing.hub.client import CACHE_NEEDS, MODEL_FILES, MODEL_NEEDS, cached, fetch
from oversmoothing.hub.listing import Repository, UnreachableError
from oversmoothing.hub.manifest import asset_folder, read_asset
from oversmoothing.hub.names import as_folder, as_gguf, asset_name, is_studied
from oversmoothing.jobs import UserError
from oversmoothing.models.device import Compute
from oversmoothing.models.pretrained.folder import check_folder
from oversmoothing.models.pretrained.made_assets import make_asset
from oversmoothing.models.truths.load import Described, check_token_lm, load_token_lm
from oversmoothing.models.truths.token_model import TokenModel
from oversmoothing.store.provenance import sha256
from oversmoothing.store.sealed_json import write_sealed

MAIN = "main"
REMEDY = "run again with network access"


class Source(NamedTuple):
    """A model's folder; for one of the hub also its revision and commit, for a snapshot of its cache the commit."""

    folder: Path
    revision: str | None
    commit: str | None


def find_model(name: str, revision: str | None, assets: str | Path) -> Source:
    """Return where a model's files are: a folder, what `assets` names, or the hub's own cache.

    The folder that is made of a GGUF file is in `assets`, and is made again if the file has changed.
    """
    folder = as_folder(name)
    if folder is not None:
        if revision is not None:
            raise UserError(f"--revision {revision}: {name} is a path, and only models on the hub have revisions")
        if gguf := as_gguf(name):
            return Source(_converted(name, gguf, Path(assets)), None, None)
        if not is_studied(folder):
            check_folder(folder)
        snapshot = snapshot_of(folder)
        return Source(folder, None, snapshot and snapshot.commit)
    revision = revision or MAIN
    manifest = Path(assets) / f"{asset_name(name, revision)}.json"
    if not manifest.is_file():
        repository = Repository(name, revision)
        missing = f"{name}: no such folder (searched from {Path.cwd()})"
        try:
            folder = cached(repository, CACHE_NEEDS) or Path(fetch(repository, MODEL_FILES, MODEL_NEEDS)["folder"])
        except UnreachableError as error:
            why = f"the hub cannot be reached ({error.__cause__}); name a folder, or {REMEDY}"
            raise UserError(f"{missing}, and {why}") from error
        except UserError as error:
            raise UserError(f"{missing}, and from the hub: {error}") from error
        check_folder(folder)
        return Source(folder, revision, folder.name)
    return Source(asset_folder(manifest, REMEDY), revision, read_asset(manifest).get("commit"))


def _converted(name: str, gguf: Path, assets: Path) -> Path:
    """Return the folder that is made of a GGUF file, once."""
    manifest = assets / f"{asset_name(name, MAIN)}.json"
    if not gguf.is_file() or not manifest.is_file() or read_asset(manifest).get("sha256") != sha256(gguf):
        write_sealed(manifest, make_asset({"gguf": str(gguf)}, manifest.with_suffix("")))
    return asset_folder(manifest, "run again")


def tokenizer_of(folder: Path) -> tuple[Tokenizer, Vocabulary]:
    """Return a model's tokenizer and vocabulary; those of a model of a study are bytes."""
    tokenizer = byte_tokenizer() if is_studied(folder) else load_tokenizer(folder / FAST)
    return tokenizer, vocabulary_of(tokenizer, folder / FAST)


def described(folders: Mapping[str, Path], tokens_of: str, bos: int | str | None = AUTO) -> dict[str, Described]:
    """What the files of each model say, by what the user wrote, after all checks that need no weights.

    A `UserError` is raised if a tokenizer is not that of the model `tokens_of`, or a head cannot be measured.
    """
    tokenizer, vocabulary = tokenizer_of(folders[tokens_of])
    files = {name: _described(folder, name, vocabulary, bos) for name, folder in folders.items()}
    for name in set(folders) - {tokens_of}:
        if not is_studied(folders[name]):
            check_alike(tokenizer, folders[name], name)
    return files


def load(folder: Path, name: str, vocabulary: Vocabulary, bos: int | str | None, compute: Compute) -> TokenModel:
    """Load a model from a folder of `find_model`; errors as of `described`, and what its weights show."""
    if not is_studied(folder):
        return load_token_lm(folder, name, vocabulary, bos, *compute)
    _check_no_bos(name, bos)
    return load_studied(folder, name, compute.device)


def _described(folder: Path, name: str, vocabulary: Vocabulary, bos: int | str | None) -> Described:
    if not is_studied(folder):
        return check_token_lm(folder, name, vocabulary, bos)
    _check_no_bos(name, bos)
    if difference := first_difference(vocabulary, BYTES):
        raise UserError(f"{name}: it reads bytes, and the other model does not: {difference}")
    return Described(load_studied(folder, name).config.block, None)


def _check_no_bos(name: str, bos: int | str | None) -> None:
    if bos not in (AUTO, None):
        raise UserError(f"--bos {bos}: {name} is a model over bytes of a study, with no id before a passage")
