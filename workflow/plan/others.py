"""Other people's models, revision by revision."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plan.hub import as_folder, asset_name, file_name
from plan.resources import scaled
from plan.settings import ConfigError, settings


@dataclass(frozen=True)
class Revision:
    """One revision of an external model.

    Attributes
    ----------
    model, revision : str
        As the config names them.
    step : int or None
        Training step; None if the revision's name has none.
    asset : str
        Name of the manifest.
    source : dict
        What to fetch, or the user's folder (see `assets.by_name`).
    settings : dict
        Settings on which its measurement depends.
    """

    model: str
    revision: str
    step: int | None
    asset: str
    source: dict[str, str]
    settings: dict[str, Any]


def revisions(config: Mapping[str, Any]) -> dict[str, Revision]:
    """Revisions of other people's models, by the path of their results: ``pythia-70m/step0``.

    Raises
    ------
    ConfigError
        If a revision is repeated.
    """
    found: dict[str, Revision] = {}
    common = {key: value for key, value in config["others"].items() if key != "models"}
    for entry in config["others"]["models"]:
        for revision in entry.get("revisions", ["main"]):
            place = f"{entry['name']}/{file_name(revision)}"
            if place in found:
                raise ConfigError(f"others.models: {place} is listed twice; keep one of them")
            name, source = _source(entry, revision)
            meant = entry.get("main_is", revision) if revision == "main" else revision
            own = {key: entry[key] for key in ("batch", "precision") if key in entry}
            found[place] = Revision(entry["name"], revision, step(meant), name, source, settings(**common | own))
    return found


def step(revision: str) -> int | None:
    """Training step in a revision's name: 143000 in step143000 or stage1-step143000-tokens300B."""
    found = re.search(r"(?<![A-Za-z])(?:step|checkpoint)[-_]?(\d+)", revision)
    return int(found[1]) if found else None


def memory(revision: Revision, manifest: str, attempt: int = 1) -> int:
    """Estimated memory of a measurement in MB: float32 weights, logits of a batch, and 3 GB for PyTorch.

    Weights on the hub mostly take two bytes each. Until the manifest exists, 16 GB are requested.
    """
    if not Path(manifest).is_file():
        return scaled(16_000, attempt)
    try:
        files = json.loads(Path(manifest).read_text(encoding="utf-8"))["files"]
        stored = sum(facts["size"] for path, facts in files.items() if path.endswith(".safetensors"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return scaled(16_000, attempt)  # the job names the damaged manifest
    logits = 8 * 60_000 * revision.settings["batch"] * revision.settings["context"]
    return scaled(3000 + (3 * stored + logits) // 10**6, attempt)


def _source(entry: Mapping[str, Any], revision: str) -> tuple[str, dict[str, str]]:
    """Asset and source of a revision; `main` is the end of training if the config says which step that is."""
    is_end = entry.get("main_is") == revision
    folder = as_folder(entry["hub"])
    if folder is None:
        otherwise = {"otherwise": "main"} if is_end else {}
        name = asset_name(entry["hub"], revision) + ("-or-main" if is_end else "")
        return name, settings(repository=entry["hub"], revision=revision, **otherwise)
    own = folder / revision if "revisions" in entry else folder
    if is_end and not own.is_dir():
        main = folder / "main"
        return file_name(f"folder-{main}-for-{revision}"), settings(
            folder=str(main), revision="main", instead_of=revision
        )
    return file_name(f"folder-{own}"), settings(folder=str(own))
