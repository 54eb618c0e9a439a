"""Manifests of fetched files, or of those in a user's folder: read offline, and every file checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.provenance import sha256
from oversmoothing.store.sealed_json import read_sealed

REMEDY = "run `snakemake assets` with network access; it is fetched alone"


def asset_folder(path: str | Path, remedy: str = REMEDY) -> Path:
    """Return the folder of the files listed in a manifest, after a check of them all.

    `remedy` is for messages: what brings fetched files back once the manifest is deleted.
    """
    path, manifest = Path(path), read_asset(path)
    folder = listed_folder(path)
    of_user = "folder" in manifest and "kind" not in manifest
    check_files(folder, manifest["files"], f"delete {path} and {'run again' if of_user else remedy}")
    return folder


def listed_folder(path: str | Path) -> Path:
    """Return the folder of the files listed in a manifest, unchecked: beside it, the user's, or in the hub's cache."""
    return Path(read_asset(path).get("folder") or Path(path).with_suffix(""))


def check_files(folder: Path, files: Mapping[str, Mapping[str, Any]], remedy: str) -> None:
    """Raise a `UserError` that ends with `remedy` unless each file has its size (bytes) and SHA-256."""
    for name, facts in files.items():
        path = folder / name
        if not path.is_file():
            fault = "is missing"
        elif path.stat().st_size != facts["size"]:
            fault = f"has {path.stat().st_size:,} bytes, not {facts['size']:,}"
        elif sha256(path) != facts["sha256"]:
            fault = "has changed since its checksum was taken"
        else:
            continue
        raise UserError(f"{path} {fault}; {remedy}")


def read_asset(path: str | Path) -> dict[str, Any]:
    """Read a manifest as `client.fetch` and `client.take_stock` describe it."""
    try:
        manifest = read_sealed(path)
        for facts in manifest["files"].values():
            if type(facts["size"]) is not int or type(facts["sha256"]) is not str:
                raise TypeError("a file without size and sha256")
        if type(manifest.get("folder", "")) is not str:
            raise TypeError("a folder that is not a string")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fault = file_fault(error) or f"not a manifest of fetched files ({error}); delete it and run again"
        raise UserError(f"{path}: {fault}") from error
    return manifest
