"""Names of models on the hub and of folders in their place, and the files of such a folder."""

import os
import re
from collections.abc import Mapping
from pathlib import Path


def asset_name(source: str, revision: str) -> str:
    """Name of the manifest of a model on the hub or in a folder."""
    return file_name(f"folder-{source}" if as_folder(source) else f"{source}@{revision}")


def as_folder(source: str) -> Path | None:
    """Folder that a name refers to; None for a name on the hub, which has at most two parts."""
    path = Path(os.path.expanduser(source))  # noqa: PTH111 (Path's own raises where there is no such user)
    is_path = path.is_absolute() or len(path.parts) > 2 or source.startswith((".", "~"))
    return path if is_path or path.is_dir() else None


def files_in_folder(source: Mapping[str, str]) -> list[str]:
    """Files of the user's folder, so that Snakemake sees any change; empty for a model on the hub."""
    folder = Path(source.get("folder", ""))
    if "folder" not in source or not folder.is_dir():
        return []
    return sorted(str(path) for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".txt", ".model"))


def file_name(text: str) -> str:
    """Text with each part that a file name should not contain replaced by two hyphens."""
    return re.sub(r"[^\w.@-]+", "--", text)
