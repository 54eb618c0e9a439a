"""The paths that a config names, checked as soon as it is read, and before anything is planned.

Snakemake says nothing of an input that is missing as long as the outputs made of it exist: it takes these as they are.
So no rule can be left to find out that a file is not there.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from plan.corpus import local_shards, matching_files, patterns, user_files
from plan.hub import as_folder
from plan.others import revisions
from plan.settings import ConfigError


def check_paths(config: Mapping[str, Any]) -> None:
    """Check the names of all paths, and that checkpoints, histories and models' folders are there.

    Raises
    ------
    ConfigError
        That names the key and the path.
    """
    for message in (*_unreadable(config), *_missing(config)):
        raise ConfigError(message)


def missing_text(config: Mapping[str, Any]) -> list[str]:
    """Say of each text that the config names and that is not there its key and path; what it is for can be planned."""
    return list(_missing_text(config))


def check_text(config: Mapping[str, Any]) -> None:
    """Check that the text is there, before a job has deleted any earlier output.

    Raises
    ------
    ConfigError
        That names the key and the path.
    """
    for message in missing_text(config):
        raise ConfigError(message)


def check_sources(rules: Iterable[Any], made: Iterable[str]) -> None:
    """Check that each input which stands in a rule, and which no rule makes, is there.

    Parameters
    ----------
    rules : iterable of snakemake.rules.Rule
    made : iterable of str
        Folders of what rules make.

    Raises
    ------
    ConfigError
        That names the file and the rule.
    """
    folders = tuple(f"{folder.rstrip('/')}/" for folder in made)
    for rule in rules:
        for file in rule.input:
            if isinstance(file, str) and "{" not in file and not file.startswith(folders) and not Path(file).exists():
                raise ConfigError(f"{file}: no such file, but rule {rule.name} reads it (searched in {Path.cwd()})")


def _unreadable(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what Snakemake would read as a wildcard or a variable of its own, and not as a name."""
    named = dict(_folders(config)) | _files(config) | {key: config[key] for key in ("results", "assets")}
    named |= {f"corpus.paths: {path}": path for path in user_files(config)}
    for i, corpus in enumerate(config["language"]["corpora"]):
        named |= {f"language.corpora.{i}.paths: {path}": path for path in matching_files(corpus["paths"])}
    for key, path in named.items():
        if found := next((sign for sign in "{}<>" if sign in path), None):
            where = key if key.endswith(path) else f"{key}: {path}"
            yield f"{where}: {found!r} in a path means a wildcard to Snakemake; rename it"


def _missing(config: Mapping[str, Any]) -> Iterator[str]:
    here = f"(searched in {Path.cwd()})"
    for key, path in _files(config).items():
        if not Path(path).is_file():
            yield f"{key}: no file {path} {here}"
    for key, path in _folders(config):
        if not Path(path).is_dir():
            yield f"{key}: no folder {path} {here}"


def _missing_text(config: Mapping[str, Any]) -> Iterator[str]:
    here = f"(searched in {Path.cwd()})"
    for pattern in patterns(config):
        if not matching_files([pattern]):
            yield f"corpus.paths: no file matches {pattern!r} {here}"
    for shard in local_shards(config):
        if not shard.is_file():
            yield f"corpus.fineweb.repository: no file {shard} {here}"
    for i, own in enumerate(config["language"]["corpora"]):
        for pattern in own["paths"]:
            if not matching_files([pattern]):
                yield f"language.corpora.{i}.paths: no file matches {pattern!r} {here}"


def _files(config: Mapping[str, Any]) -> dict[str, str]:
    """List checkpoints and histories by their key."""
    lists = {"family": config["family"], "truths": config["truths"]}
    lists["saturation.histories"] = config["saturation"]["histories"]
    return {
        f"{key}.{i}.path": entry["path"]
        for key, entries in lists.items()
        for i, entry in enumerate(entries)
        if "path" in entry
    }


def _folders(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List the folders that stand in the place of a name on the hub, with their keys."""
    named = {"quality.language_model": config["quality"]["language_model"] or ""}
    named |= {f"truths.{i}.hub": truth.get("hub", "") for i, truth in enumerate(config["truths"])}
    for key, name in named.items():
        if folder := as_folder(name) if name else None:
            yield key, str(folder)
    for one in revisions(config).values():
        if "folder" in one.source:
            yield f"others.models: revision {one.revision} of {one.model}", one.source["folder"]
