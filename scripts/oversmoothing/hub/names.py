"""Names of models: on the hub, of folders in their place, and of their files among the assets."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from oversmoothing.hub.cache import newest, snapshot_of
from oversmoothing.hub.formats import SUFFIXES

STUDIED = "weights.safetensors"  # in RESULTS/models/NAME
GGUF = ".gguf"

Named = str | Mapping[str, str]  # a name on the hub, a folder or a GGUF file; or ``package`` and its ``sha256``


def asset_name(source: Named, revision: str) -> str:
    """Name of the manifest of a model on the hub, in a folder, in a GGUF file or in a package."""
    if not isinstance(source, str):
        return file_name(f"package-{source['package'].replace('==', '@')}")
    if as_gguf(source):
        return file_name(f"gguf-{source}")
    return file_name(f"folder-{source}" if as_folder(source) else f"{source}@{revision}")


def as_gguf(source: Named) -> Path | None:
    """GGUF file that a name refers to, from which a folder is made; None for any other name."""
    path = as_folder(source)
    return path if path and path.suffix == GGUF and not path.is_dir() else None


def as_folder(source: Named) -> Path | None:
    """Folder or file of weights that a name refers to, of a repository in the hub's cache the snapshot of main.

    None for a name on the hub, which has at most two parts, and for a model in a package.
    """
    if not isinstance(source, str):
        return None
    path = Path(os.path.expanduser(source))  # noqa: PTH111 (Path's own raises where there is no such user)
    is_path = path.is_absolute() or len(path.parts) > 2 or source.startswith((".", "~"))
    is_path = is_path or path.is_dir() or path.suffix == GGUF
    is_path = is_path or (path.suffix in (".safetensors", *SUFFIXES) and path.is_file())
    return newest(path) if is_path else None


def short_name(source: str) -> str:
    """Return the last part of the name of a model or its folder; of one in the hub's cache, of its name on the hub."""
    snapshot = snapshot_of(as_folder(source) or source)
    return Path(snapshot.repository if snapshot else source.removesuffix(GGUF)).name


def is_studied(folder: Path) -> bool:
    """Return whether a folder holds a model as a study keeps it, and not one in the Hugging Face format."""
    return (folder / STUDIED).is_file() and not (folder / "config.json").exists()


def file_name(text: str) -> str:
    """Text with each part that a file name should not contain replaced by two hyphens."""
    return re.sub(r"[^\w.@-]+", "--", text)
