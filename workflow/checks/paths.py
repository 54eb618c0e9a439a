"""Checks of the paths that a config names, made before anything is planned.

Snakemake does not report a missing input as long as the outputs made from it exist, so no rule would notice.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.data.globs import CONTROL, matching_files, why_none
from oversmoothing.hub.names import Named, as_folder, as_gguf
from oversmoothing.jobs import UserError
from plan import studies
from plan.corpus import local_shards, patterns, user_files
from plan.settings import ConfigError
from plan.tokens import tokenizer


def check_paths(config: Mapping[str, Any]) -> None:
    """Check the names of all paths, and that checkpoints, files of studies and folders of models exist."""
    for message in (*_unreadable(config), *_missing(config), *_no_folders(config)):
        raise ConfigError(message)


def check_models(config: Mapping[str, Any]) -> None:
    """Check that the headers of GGUF files that the config names are those of models that can be converted."""
    for key, path in _folders(config):
        if as_gguf(path):
            from oversmoothing.hub.gguf_model import check_gguf  # with NumPy, which few configs need

            try:
                check_gguf(path)
            except UserError as error:
                raise ConfigError(f"{key}: {error}") from None


def missing_text(config: Mapping[str, Any]) -> list[str]:
    """Return messages about missing texts that the config names; what a study needs can be said without them."""
    globs = [("corpus.paths", pattern) for pattern in patterns(config)]
    globs += [(key, pattern) for key, of_study in studies.joined(config, "texts").items() for pattern in of_study]
    missing = [f"{key}: {why_none(pattern)}" for key, pattern in globs if not matching_files([pattern])]
    shards = [shard for shard in local_shards(config) if not shard.is_file()]
    missing += [f"corpus.fineweb.repository: no file {shard}" for shard in shards]
    return [f"{message} (searched in {Path.cwd()})" for message in missing]


def check_text(config: Mapping[str, Any]) -> None:
    """Check that the text exists, before a corpus is planned and before any job deletes its earlier output."""
    for message in missing_text(config):
        raise ConfigError(message)


def check_sources(rules: Iterable[Any], made: Iterable[str]) -> None:
    """Check that every input that no rule makes exists; `made` are the folders that rules write to."""
    folders = tuple(f"{folder.rstrip('/')}/" for folder in made)
    for rule in rules:
        for file in rule.input:
            if isinstance(file, str) and "{" not in file and not file.startswith(folders) and not Path(file).exists():
                raise ConfigError(f"{file}: no such file, but rule {rule.name} reads it (searched in {Path.cwd()})")


def _unreadable(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about paths that Snakemake would read as containing a wildcard, or that break a line."""
    named = dict(_folders(config)) | _files(config) | {key: config[key] for key in ("results", "assets")}
    named |= {f"corpus.paths: {path}": path for path in user_files(config)}
    for key, globs in studies.joined(config, "texts").items():
        named |= {f"{key}: {path}": path for path in matching_files(globs)}
    for key, path in named.items():
        if CONTROL.search(path):
            fault = "a line break or another control character in a path, or no UTF-8"
            yield f"{key.partition(':')[0]}: {path!r}: {fault}; rename it"
        elif sign := next((sign for sign in "{}<>" if sign in path), None):
            where = key if key.endswith(path) else f"{key}: {path}"
            yield f"{where}: {sign!r} in a path means a wildcard to Snakemake; rename it"


def _missing(config: Mapping[str, Any]) -> Iterator[str]:
    here = f"(searched in {Path.cwd()})"
    for key, path in _files(config).items():
        if not Path(path).is_file():
            yield f"{key}: no file {path} {here}"
    for key, path in _folders(config):
        if not (Path(path).is_file() if as_gguf(path) else Path(path).is_dir()):
            yield f"{key}: no {'file' if as_gguf(path) else 'folder'} {path} {here}"


def _no_folders(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about folders of results that cannot be made."""
    chosen = {
        "results": config["results"],
        "assets": config["assets"],
        "checkpoints.folder": config["checkpoints"]["folder"],
    }
    for key, folder in chosen.items():
        parts = (Path(folder), *Path(folder).parents) if folder else ()
        if file := next((part for part in parts if os.path.isfile(part)), None):  # noqa: PTH113 (it never raises)
            yield f"{key}: {file} is a file, not a folder; name another folder"


def _files(config: Mapping[str, Any]) -> dict[str, str]:
    """Return paths of checkpoints, and of what the studies read, by key."""
    lists = {"family": config["family"], "truths": config["truths"]}
    return studies.joined(config, "files") | {
        f"{key}.{i}.path": entry["path"]
        for key, entries in lists.items()
        for i, entry in enumerate(entries)
        if "path" in entry
    }


def _folders(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield keys and paths of the folders and GGUF files given in place of a hub name."""
    named: dict[str, Named] = {
        f"{key}.{i}.hub": entry["hub"]
        for key in ("truths", "family")
        for i, entry in enumerate(config[key])
        if "hub" in entry
    }
    if source := tokenizer(config):
        named["tokens.tokenizer"] = source[0]
    for key, name in named.items():
        if folder := as_folder(name):
            yield key, str(folder)
    yield from studies.joined(config, "folders").items()
