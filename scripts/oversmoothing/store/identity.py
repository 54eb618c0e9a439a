"""Identity of a file: its name in the results folder and what it was made from, recorded in it and checked on reading.

A valid file under the path of another, of another seed for example, has a seal that fits. So a file states its own
name, and every reader compares that with the path.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from oversmoothing import jobs
from oversmoothing.jobs import UserError

NAME = "file"  # in a file's metadata: its path relative to the results folder
SOURCES = "made_from"  # the files that it was made from, directly or not, each with its settings; JSON


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


def check_identity(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> None:
    """Raise a `UserError` if a file is not the one that its path says.

    An input of the running job must have the name that the plan gives it, and it and all that it was made from the
    settings that the config now asks for. Outside a job, a file in a folder with the name of its own, such as
    ``results/logits/``, must have its own name there. What a file does not state passes, as do, in a job, the user's.
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
    if "settings" in metadata and (difference := _difference(json.loads(metadata["settings"]), entry.get("settings"))):
        raise UserError(f"{path}: made with {difference}; run again with --forcerun {entry['rule']}")
    asked = {source["file"]: source.get("settings") for source in inputs.values()}
    for source, settings in json.loads(metadata.get(SOURCES, "{}")).items():
        if difference := _difference(settings, asked.get(source)):
            made = f"made from {source}, which was made with {difference}"
            raise UserError(f"{path}: {made}; run again with --forcerun {entry['rule']}")


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
