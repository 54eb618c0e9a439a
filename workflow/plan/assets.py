"""Assets that `snakemake assets` fetches: models of the hub, their tokenizers, and what studies read of it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from oversmoothing.hub.gguf_parts import parts_of
from oversmoothing.hub.names import WHEEL, Named, asset_name, source_of
from plan import studies
from plan.settings import settings
from plan.tokens import tokenizer


def by_name(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return sources of the assets, by name.

    A source is a ``repository`` and ``revision``, the user's ``folder``, or what is converted.

    That is the user's file, ``gguf``, or a ``package`` with the ``sha256`` of its wheel.
    ``otherwise`` is the revision to fetch if the hub lacks ``revision``; ``instead_of`` is the missing folder in whose
    place ``folder`` is read.
    """
    sources = dict(_of_models(config))
    if (named_tokenizer := tokenizer(config)) and (name := asset_name(*named_tokenizer)) not in sources:
        source = hub_source(*named_tokenizer)
        part = {"part": "tokenizer"} if {"repository", "folder"} & set(source) else {}
        sources[name] = settings(**source, **part)
    return sources | _of_studies(config)


def two_wheels(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that each version of a package has one checksum, because its wheels share a name among the assets."""
    first: dict[str, dict[str, Any]] = {}
    for name, source in (*_of_models(config), *_of_studies(config).items()):
        other = first.setdefault(name, source)
        for key, what in zip(
            WHEEL, ("its wheel has two checksums", "it has other parts", "its file has two"), strict=True
        ):
            if other.get(key) != source.get(key):
                both = f"{other.get(key)} and {source.get(key)}"
                yield f"package {source['package']}: {what} in the config, {both}; keep one of them"


def _of_models(config: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in (*config["truths"], *config["family"]):
        if "hub" in entry:
            model = entry["hub"], entry.get("revision", "main")
            yield asset_name(*model), hub_source(*model)


def _of_studies(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: source for name, (source, _) in studies.joined(config, "assets").items()}


def by_repository(config: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return sources of the assets of each repository on the hub, by name, each with its training ``step`` or None."""
    steps = {name: at for name, (_, at) in studies.joined(config, "assets").items()}
    gathered: dict[str, dict[str, dict[str, Any]]] = {}
    for name, source in by_name(config).items():
        if "repository" in source:
            with_step = {**source, "step": steps.get(name, step(source["revision"]))}
            gathered.setdefault(source["repository"], {})[name] = with_step
    return gathered


def hub_source(source: Named, revision: str) -> dict[str, Any]:
    """Return what to fetch, as `by_name` describes it, of a model that the config names."""
    return settings(**source_of(source, revision))


def files_in_folder(source: Mapping[str, str]) -> list[str]:
    """Return files of the user, so that Snakemake sees any change; empty for a model on the hub or in a package."""
    if "gguf" in source:
        return [str(part) for part in parts_of(source["gguf"])]
    folder = Path(source.get("folder", ""))
    if "folder" not in source or not folder.is_dir():
        return []
    return sorted(str(path) for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".txt", ".model"))


def weight_bytes(manifest: str | Path) -> int | None:
    """Return the number of bytes of the weights that a manifest lists.

    None until it exists, or if it is damaged, which the job says.
    """
    try:
        files = json.loads(Path(manifest).read_text(encoding="utf-8"))["files"]
        return sum(facts["size"] for path, facts in files.items() if path.endswith(".safetensors"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def step(revision: str) -> int | None:
    """Return the training step in a revision's name: 143000 in step143000 or stage1-step143000-tokens300B."""
    match = re.search(r"(?<![A-Za-z])(?:step|checkpoint)[-_]?(\d+)", revision)
    return int(match[1]) if match else None
