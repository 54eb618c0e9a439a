"""Files of a folder in the place of a model on the hub, the names of both, and steps in names of revisions."""

import re
from collections.abc import Mapping
from pathlib import Path

from oversmoothing.hub.names import as_folder, asset_name, file_name

__all__ = ["as_folder", "asset_name", "file_name", "files_in_folder", "step"]


def files_in_folder(source: Mapping[str, str]) -> list[str]:
    """Files of the user's folder, so that Snakemake sees any change; empty for a model on the hub."""
    folder = Path(source.get("folder", ""))
    if "folder" not in source or not folder.is_dir():
        return []
    return sorted(str(path) for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".txt", ".model"))


def step(revision: str) -> int | None:
    """Training step in a revision's name: 143000 in step143000 or stage1-step143000-tokens300B."""
    match = re.search(r"(?<![A-Za-z])(?:step|checkpoint)[-_]?(\d+)", revision)
    return int(match[1]) if match else None
