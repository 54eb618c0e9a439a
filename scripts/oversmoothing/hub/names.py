"""Names of models: on the hub, of folders in their place, and of their files among the assets."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.hub.cache import newest, snapshot_of
from oversmoothing.hub.other_formats import SUFFIXES

STUDIED = "weights.safetensors"  # in RESULTS/models/NAME
GGUF = ".gguf"
KINDS = PACKAGE, OF_FILE, FOLDER = ("package-", "gguf-", "folder-")  # what such names begin with; of the hub nothing
DIGITS = 12  # of a digest in a name
LONGEST = 120  # bytes of a name: those of its temporary files are longer, and a file system allows 255

Named = str | Mapping[str, Any]  # a name on the hub, a folder or a GGUF file; or ``package`` and `WHEEL`
WHEEL = ("sha256", "parts", "joined")  # what pins the wheel of a package, the parts of a file and that file


def asset_name(source: Named, revision: str, otherwise: str | None = None) -> str:
    """Return the name of the manifest of a model on the hub, in a folder, in a GGUF file or in a package.

    Each has its own. `otherwise` is the revision to read if the hub lacks `revision`. The wheels of one version of a
    package, which differ by their checksums, share a name.
    """
    if not isinstance(source, str):
        return _injective(PACKAGE, *source["package"].split("==", 1))
    if as_gguf(source):
        return _injective(OF_FILE, source)
    if as_folder(source):
        return folder_name(source)
    return _injective("", source, revision, *([otherwise] if otherwise else []))


def folder_name(folder: str, instead_of: str | None = None) -> str:
    """Return the name of the manifest of a model in a folder.

    The folder may be read in the place of a revision without a folder.
    """
    return _injective(FOLDER, folder, *([instead_of] if instead_of else []))


def source_of(source: Named, revision: str) -> dict[str, Any]:
    """Return what to fetch or to convert: ``package`` and `WHEEL`, ``gguf``, ``folder``, or ``repository``."""
    if not isinstance(source, str):
        return {key: source[key] for key in ("package", *WHEEL) if key in source}
    if file := as_gguf(source):
        return {"gguf": str(file)}
    folder = as_folder(source)
    return {"folder": str(folder)} if folder else {"repository": source, "revision": revision}


def as_gguf(source: Named) -> Path | None:
    """Return the GGUF file that a name refers to, from which a folder is made; None for any other name."""
    path = as_folder(source)
    return path if path and path.suffix == GGUF and not path.is_dir() else None


def as_folder(source: Named) -> Path | None:
    """Return the folder or file of weights that a name refers to.

    Of a repository in the hub's cache it is the snapshot of main.

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
    """Return a text with each part that a file name should not contain replaced by two hyphens."""
    return re.sub(r"[^\w.@-]+", "--", text)


def _injective(kind: str, *parts: str) -> str:
    """Return ``kindpart@part``, and behind a tilde a digest unless the parts can be read back from it."""
    name = kind + "@".join(map(file_name, parts))
    plain = all("@" not in part and file_name(part).replace("--", "/") == part for part in parts)
    if plain and len(name.encode()) <= LONGEST and (kind or not name.startswith(KINDS)):
        return name
    digest = hashlib.sha256(json.dumps([kind, *parts]).encode()).hexdigest()[:DIGITS]
    return f"{name.encode()[:LONGEST].decode(errors='ignore')}~{digest}"
