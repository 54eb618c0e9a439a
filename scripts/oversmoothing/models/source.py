"""The files of models: a folder, a GGUF file, converted once, or a name on the hub, fetched once; checked."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import PreTrainedConfig

from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.vocabulary import (
    AUTO,
    BYTES,
    FAST,
    Before,
    Vocabulary,
    as_ids,
    byte_tokenizer,
    first_difference,
    listed,
    load_tokenizer,
    vocabulary_of,
)
from oversmoothing.hub.cache import snapshot_of
from oversmoothing.hub.client import fetch
from oversmoothing.hub.gguf_parts import digest
from oversmoothing.hub.listing import Repository, UnreachableError
from oversmoothing.hub.manifest import MODEL_FILES, MODEL_NEEDS, asset_folder, read_asset
from oversmoothing.hub.names import STUDIED, as_folder, as_gguf, asset_name, is_studied, source_of
from oversmoothing.jobs import UserError
from oversmoothing.models.device import Compute
from oversmoothing.models.model import GPT
from oversmoothing.models.predictor import head_matrix
from oversmoothing.models.pretrained.folder import check_folder
from oversmoothing.models.pretrained.made_assets import make_asset
from oversmoothing.models.truths.load import Described, check_token_lm, load_token_lm
from oversmoothing.models.truths.token_model import TokenModel, byte_table
from oversmoothing.models.weights import load_model
from oversmoothing.store.sealed_json import write_sealed

MAIN = "main"
REMEDY = "run again with network access"


class Source(NamedTuple):
    """A model's folder; for one of the hub also its revision and commit, for a snapshot of its cache the commit."""

    folder: Path
    revision: str | None
    commit: str | None


def files(name: str, source: Source) -> dict[str, Any]:
    """Return ``source`` of the JSON: what the user wrote, and what was found of it."""
    return {"name": name} | source._asdict() | {"folder": str(source.folder)}


def find_model(name: str, revision: str | None, assets: str | Path) -> Source:
    """Return where a model's files are: a folder, what `assets` names or is made there, or the hub's cache."""
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
    if manifest.is_file():
        folder = asset_folder(manifest, REMEDY, source_of(name, revision))
        return Source(folder, revision, read_asset(manifest).get("commit"))
    repository = Repository(name, revision)
    try:
        folder = Path(fetch(repository, MODEL_FILES, MODEL_NEEDS)["folder"])
    except UserError as error:
        why = f"from the hub: {error}"
        if isinstance(error, UnreachableError):
            why = f"the hub cannot be reached ({error.__cause__}); name a folder, or {REMEDY}"
        raise UserError(f"{name}: no such folder (searched from {Path.cwd()}), and {why}") from error
    check_folder(folder)
    return Source(folder, revision, folder.name)


def _converted(name: str, gguf: Path, assets: Path) -> Path:
    """Return the folder that is made of a GGUF file, once."""
    manifest = assets / f"{asset_name(name, MAIN)}.json"
    source, made = source_of(name, MAIN), read_asset(manifest) if manifest.is_file() else {}
    if not gguf.is_file() or made.get("gguf") != source["gguf"] or made.get("sha256") != digest(gguf):
        write_sealed(manifest, make_asset(source, manifest.with_suffix("")))
    return asset_folder(manifest, "run again", source)


def tokenizer_of(folder: Path) -> tuple[Tokenizer, Vocabulary]:
    """Return a model's tokenizer and vocabulary; those of a model of a study are bytes."""
    tokenizer = byte_tokenizer() if is_studied(folder) else load_tokenizer(folder / FAST)
    return tokenizer, vocabulary_of(tokenizer, folder / FAST)


def described(folders: Mapping[str, Path], tokens_of: str, bos: Before | str = AUTO) -> dict[str, Described]:
    """Return what the files of each model say, by what the user wrote, after all checks that need no weights.

    A `UserError` is raised if a tokenizer is not that of the model `tokens_of`, or a head cannot be measured.
    """
    tokenizer, vocabulary = tokenizer_of(folders[tokens_of])
    found = {name: _described(folder, name, vocabulary, bos) for name, folder in folders.items()}
    for name in set(folders) - {tokens_of}:
        if not is_studied(folders[name]):
            check_alike(tokenizer, folders[name], name)
    return found


def load(folder: Path, name: str, vocabulary: Vocabulary, bos: Before | str, compute: Compute) -> TokenModel:
    """Load a model from a folder of `find_model`; errors as of `described`, and what its weights show."""
    if not is_studied(folder):
        return load_token_lm(folder, name, vocabulary, bos, *compute)
    _check_no_bos(name, bos)
    return load_studied(folder, name, compute.device)


def _described(folder: Path, name: str, vocabulary: Vocabulary, bos: Before | str) -> Described:
    if not is_studied(folder):
        return check_token_lm(folder, name, vocabulary, bos)
    _check_no_bos(name, bos)
    if difference := first_difference(vocabulary, BYTES):
        raise UserError(f"{name}: it reads bytes, and the other model does not: {difference}")
    return Described(load_studied(folder, name).config.block, None)


def _check_no_bos(name: str, bos: Before | str) -> None:
    if bos not in (AUTO, None):
        assert not isinstance(bos, str)
        given = listed(as_ids(bos))
        raise UserError(f"--bos {given}: {name} is a model over bytes of a study, with no id before a passage")


def load_studied(folder: Path, name: str, device: torch.device | str = "cpu") -> TokenModel:
    """Return the model of a study; a `UserError` unless it reads bytes and its logits are a linear map."""
    model = load_model(folder / STUDIED, device)
    if model.config.vocabulary != len(BYTES):
        raise UserError(f"{name}: it reads tokens of its study, and only models over bytes do here")
    head = head_matrix(model, name)
    return TokenModel(name, _Trunk(model), head, None, byte_table(0), [], model.config.block, "bytes")


class _Trunk(nn.Module):
    """All of a GPT but its head, with the interface of a trunk of transformers."""

    def __init__(self, model: GPT) -> None:
        super().__init__()
        self.model = model.requires_grad_(False)
        self.config = PreTrainedConfig.from_dict({"num_hidden_layers": model.config.layers})

    def forward(self, input_ids: Tensor, use_cache: bool = False) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=self.model.hidden(input_ids)[1])

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embedding
