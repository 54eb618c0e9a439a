"""Identity of a file: its name in the results folder and what it was made from, recorded in it and checked on reading.

A valid file under the path of another, of another seed for example, has a seal that fits. So a file states its own
name, and every reader compares that with the path. Settings may be equal where texts differ. So a file also states the
checksums of the splits that it was made from, and a job reads no two files of different texts.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from oversmoothing import jobs
from oversmoothing.jobs import UserError
from oversmoothing.store.seal import check

NAME = "file"  # in a file's metadata: its path relative to the results folder
SOURCES = "made_from"  # the files that it was made from, directly or not, each with its settings; JSON
TEXTS = "texts"  # the splits that it was made from, directly or not, each with its sha256; JSON
MANIFEST = "manifest.json"  # of a text, beside its splits


def name_of(path: str | os.PathLike[str]) -> str | None:
    """Return the name in the results folder of an output of the running job; None for any other file."""
    return _within(jobs.asked.get("outputs", {}), path)[1]


def identity(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return what an output of the running job states of itself in its metadata; nothing for any other file."""
    name = name_of(path)
    if name is None:
        return {}
    inputs = jobs.asked["inputs"].values()
    sources = {known["file"]: known.get("settings") for known in inputs if known["recorded"]}
    return {NAME: name, SOURCES: json.dumps(sources, sort_keys=True)}


def texts() -> dict[str, str]:
    """Return what a file that the running job writes states of the texts of all that the job has read so far."""
    read = jobs.asked.get(TEXTS, {})
    return {TEXTS: json.dumps({name: read[name][0] for name in sorted(read)})} if jobs.asked else {}


def check_text(split: str | os.PathLike[str], sha256: str) -> None:
    """Let the running job read a split, with a `UserError` if it has read what was made from another text."""
    place, name = _within({place: entry["file"] for place, entry in jobs.asked.get("inputs", {}).items()}, split)
    if place and name:
        _check_texts(split, name, {name: sha256}, jobs.asked["inputs"][place]["rule"])


def check_identity(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> None:
    """Raise a `UserError` if a file is not the one that its path says.

    An input of the running job must have the name that the plan gives it, and it and all that it was made from the
    settings that the config now asks for. Its texts must be those of the manifests, and of what the job has read.
    Outside a job, a file in a folder with the name of its own, such as ``results/logits/``, must have its own name
    there. What a file does not state passes, as do, in a job, the user's.
    """
    inputs = jobs.asked.get("inputs", {})
    known, name = _within({place: entry["file"] for place, entry in inputs.items()}, path)
    stated = metadata.get(NAME)
    if not jobs.asked and stated:
        name = _promised(path, stated)
    if stated and name and stated != name:
        remedy = "delete it" if known in (None, os.path.normpath(path)) else f"delete {known}"
        raise UserError(f"{path}: holds {stated}, not {name}; put the right file there, or {remedy} and run again")
    if known is None:
        return
    entry = inputs[known]
    if difference := _difference(_parsed(path, metadata, "settings"), entry.get("settings")):
        raise UserError(f"{path}: made with {difference}; run again with --forcerun {entry['rule']}")
    asked = {source["file"]: source.get("settings") for source in inputs.values()}
    for source, settings in _parsed(path, metadata, SOURCES).items():
        if difference := _difference(settings, asked.get(source)):
            made = f"made from {source}, which was made with {difference}"
            raise UserError(f"{path}: {made}; run again with --forcerun {entry['rule']}")
    _check_texts(path, name or entry["file"], _parsed(path, metadata, TEXTS), entry["rule"])


def _parsed(path: str | os.PathLike[str], metadata: Mapping[str, str], key: str) -> dict[str, Any]:
    """Return what a file states under a key; nothing if it states none. A checksum's hidden file has no seal."""
    with suppress(ValueError, TypeError, RecursionError):
        stated = json.loads(metadata.get(key, "null")) or {}
        if isinstance(stated, dict):
            return stated
    raise UserError(f"{path}: what it states of itself is damaged ({key}); delete it and run again")


def _check_texts(path: str | os.PathLike[str], name: str, made_from: Mapping[str, str], rule: str) -> None:
    """Compare the texts that an input was made from with their manifests, and with what the job read before."""
    read = jobs.asked.setdefault(TEXTS, {})  # of each split the sha256, and the file that states it
    results = PurePath(os.path.normpath(path)).parents[len(PurePath(name).parts) - 1]
    for split, sha256 in made_from.items():
        if split not in read:
            read[split] = _in_manifest(Path(results, split)) or (sha256, str(path))
        first, where = read[split]
        if sha256 != first:
            raise UserError(f"{path}: of another text than {where} ({split} differs); run again with --forcerun {rule}")


def _in_manifest(split: Path) -> tuple[str, str] | None:
    """Return the sha256 that the manifest beside a split states, and the manifest's path; None without either."""
    path = split.with_name(MANIFEST)
    if not path.is_file():
        return None
    check(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))["splits"][split.stem]["sha256"], str(path)
    except (ValueError, KeyError, TypeError, RecursionError):  # its own readers say what is wrong with it
        return None


def _within(places: Mapping[str, str], path: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """Return which of the places a path is or lies in, and its name there; None twice if it is in none."""
    whole = PurePath(os.path.normpath(path))
    for place in (whole, *whole.parents):
        if (name := places.get(str(place))) is not None:
            return str(place), (PurePath(name) / whole.relative_to(place)).as_posix()
    return None, None


def _promised(path: str | os.PathLike[str], stated: str) -> str | None:
    """Return the name that a path gives to a file if it lies in a folder like its own; None elsewhere."""
    parts = PurePath(stated).parts
    there = Path(path).absolute().parts[-len(parts) :]
    return "/".join(there) if len(parts) > 1 and there[0] == parts[0] else None


def _difference(made: Any, asked: Any, where: str = "") -> str | None:
    """Describe the first difference between settings present in both; a list that was used must be part of the new."""
    if not where and None in (made, asked):
        return None
    if isinstance(made, dict) and isinstance(asked, dict):
        both = (_difference(made[key], asked[key], f"{where}.{key}") for key in sorted(made.keys() & asked.keys()))
        return next(filter(None, both), None)
    part = isinstance(made, list) and isinstance(asked, list) and all(item in asked for item in made)
    return None if part or made == asked else f"{where.lstrip('.')} {json.dumps(made)} and not {json.dumps(asked)}"
