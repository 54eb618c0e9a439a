"""Manifests of fetched files, or of those in a user's folder: read offline, and every file checked."""

import fnmatch
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from oversmoothing import jobs
from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.provenance import sha256
from oversmoothing.store.sealed_json import read_sealed

REMEDY = "run `snakemake assets` with network access; it is fetched alone"
# The files of a causal language model. Pickled weights and code are never fetched.
MODEL_FILES = (
    *("config.json", "generation_config.json", "model*.safetensors", "model.safetensors.index.json", "tokenizer*.json"),
    *("tokenizer*.model", "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt"),
)
MODEL_NEEDS = ("config.json", "model*.safetensors")
TOKENIZER_FILES = ("tokenizer.json",)
SOURCE = (
    "repository",
    "revision",
    "folder",
    "gguf",
    "package",
    "sha256",
    "parts",
    "joined",
)  # keys that say of what a manifest is


def asset_folder(
    path: str | Path,
    remedy: str = REMEDY,
    source: Mapping[str, Any] | None = None,
    read: Collection[str] = MODEL_FILES,
    needed: Collection[str] = MODEL_NEEDS,
) -> Path:
    """Return the folder of the files listed in a manifest, after a check of them all.

    `remedy` is for messages: what brings fetched files back once the manifest is deleted. `source` is as in
    `read_asset`. All files in the folder that match a pattern of `read` must be listed, and one for each of `needed`.
    """
    path, manifest = Path(path), read_asset(path, source)
    folder = _folder(path, manifest)
    of_user = "folder" in manifest and "kind" not in manifest
    again = f"delete {path} and {'run again' if of_user else remedy}"
    for pattern in needed:
        if not fnmatch.filter(manifest["files"], pattern):
            raise UserError(f"{path}: it lists no {pattern}; {again}")
    check_files(folder, manifest["files"], again)
    there = sorted(file.name for file in folder.iterdir() if file.name not in manifest["files"])
    for name in there:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in read):
            raise UserError(f"{folder / name}: not listed in {path}, so nothing says what it should hold; {again}")
    return folder


def check_files(folder: Path, files: Mapping[str, Mapping[str, Any]], remedy: str) -> None:
    """Raise a `UserError` that ends with `remedy` unless each file has its size (bytes) and SHA-256."""
    for name, facts in files.items():
        path = folder / name
        if not path.is_file():
            fault = "is missing"
        elif path.stat().st_size != facts["size"]:
            fault = f"has {path.stat().st_size:,} bytes, not {facts['size']:,}"
        elif sha256(path) != facts["sha256"]:
            fault = "has changed since its checksum was taken"
        else:
            continue
        raise UserError(f"{path} {fault}; {remedy}")


def read_asset(path: str | Path, source: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a manifest as `client.fetch` and `client.take_stock` describe it.

    It must be of `source` (see `names.source_of`), by default of what the running job's plan names, if it names any.
    """
    try:
        manifest = read_sealed(path)
        for facts in manifest["files"].values():
            if type(facts["size"]) is not int or type(facts["sha256"]) is not str:
                raise TypeError("a file without size and sha256")
        if not manifest["files"]:
            raise ValueError("it lists no file")
        if type(manifest.get("folder", "")) is not str:
            raise TypeError("a folder that is not a string")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fault = file_fault(error) or f"not a manifest of fetched files ({error}); delete it and run again"
        raise UserError(f"{path}: {fault}") from error
    asked, stated = source or _planned(path), _stated(manifest)
    for key in SOURCE:
        if key in asked and stated.get(key) != asked[key]:
            known = f"its {key} is {stated[key]}, not" if stated.get(key) else f"it does not say that its {key} is"
            raise UserError(f"{path}: of another model: {known} {asked[key]}; delete it and run again")
    return manifest


def _planned(path: str | Path) -> dict[str, Any]:
    """Return the source that the plan of the running job gives a manifest of a model."""
    known = jobs.asked.get("inputs", {}).get(os.path.normpath(path), {})
    return known.get("settings", {}) if known.get("rule") == "fetch" else {}


def _stated(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of its source, in the words of a config."""
    stated = {key: manifest.get(key) for key in SOURCE}
    if "version" in manifest:
        stated["package"] = f"{manifest.get('package')}=={manifest['version']}"
    if "kind" in manifest:
        stated["revision"] = manifest.get("instead_of", manifest.get("revision"))
    return stated


def _folder(path: Path, manifest: Mapping[str, Any]) -> Path:
    return Path(manifest.get("folder") or path.with_suffix(""))
