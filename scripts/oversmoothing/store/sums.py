"""Checksums beside files whose format cannot contain one: tables, figures, a tokenizer, a model's folder.

They are kept in a hidden file beside each file, or in one ``SHA256SUMS`` per folder, in the format of ``sha256sum``.
The hidden file of a result also states its identity, behind a CRC-32 of it, in a line that ``sha256sum`` passes over.
"""

import json
import zlib
from pathlib import Path

from oversmoothing.jobs import UserError
from oversmoothing.store.atomic import atomic_path
from oversmoothing.store.identity import check_identity, identity, texts
from oversmoothing.store.provenance import sha256

FOLDER = "SHA256SUMS"
COMMENT, CRC = "# ", 8  # before an identity; digits of its checksum


def write_sum(path: str | Path, content: str | Path) -> None:
    """Write the checksum of the file `content`, which is about to become `path`, beside `path`."""
    path = Path(path)
    with atomic_path(_beside(path)) as temporary:
        stated = identity(path)
        comment = _comment(json.dumps(stated | texts(), sort_keys=True)) if stated else ""
        temporary.write_text(_line(path.name, Path(content)) + comment, encoding="utf-8")


def write_text(path: str | Path, text: str) -> None:
    """Write a text, and its checksum beside it."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        write_sum(path, temporary)


def read_text(path: str | Path) -> str:
    """Read a text; a `UserError` as in `check_sum`, or if it is no UTF-8."""
    check_sum(path)
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 ({error}); delete it and run again") from error


def write_folder_sums(folder: str | Path) -> None:
    """Write the checksums of all files of a folder into it."""
    files = sorted(path for path in Path(folder).iterdir() if path.is_file() and path.name != FOLDER)
    with atomic_path(Path(folder, FOLDER)) as temporary:
        temporary.write_text("".join(_line(path.name, path) for path in files), encoding="utf-8")


def check_sum(path: str | Path) -> None:
    """Raise a `UserError` if a file is missing, differs from the checksum beside it, or is another than its path says.

    Without a checksum it passes.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    if (own := _beside(path)).is_file() and path.name not in _listed(own):
        raise UserError(f"{own}: damaged, without a checksum of {path.name}; delete it, or make that file again")
    for sums in (own, path.with_name(FOLDER)):
        if sums.is_file() and _listed(sums).get(path.name, actual := sha256(path)) != actual:
            raise UserError(
                f"{path}: does not match its checksum in {sums.name}; make or fetch it again or, if you changed it "
                "yourself, write its sha256sum there"
            )
    if own.is_file():
        check_identity(path, _stated(own))


def check_folder(folder: str | Path) -> None:
    """Raise a `UserError` if a file of a folder differs from its entry in ``SHA256SUMS``; without it, all pass."""
    sums = Path(folder, FOLDER)
    for name in _listed(sums) if sums.is_file() else ():
        check_sum(Path(folder, name))


def _listed(sums: Path) -> dict[str, str]:
    pairs = (line.split(maxsplit=1) for line in sums.read_text("utf-8", "replace").splitlines())
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}


def _stated(sums: Path) -> dict[str, str]:
    """Return the identity that a hidden file states; nothing if it states none."""
    _, *comments = sums.read_text("utf-8", "replace").splitlines()
    if not comments:
        return {}
    stated = comments[0].removeprefix(COMMENT)[CRC + 1 :]
    if f"{comments[0]}\n" != _comment(stated) or comments[1:]:
        raise UserError(f"{sums}: damaged (its checksum differs); delete it, or make the file beside it again")
    return dict(json.loads(stated))


def _comment(stated: str) -> str:
    return f"{COMMENT}{zlib.crc32(stated.encode()):0{CRC}x} {stated}\n"


def _line(name: str, content: Path) -> str:
    return f"{sha256(content)}  {name}\n"


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")
