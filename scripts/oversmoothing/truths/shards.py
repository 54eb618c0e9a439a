"""The safetensors files of a model: one, or several with an index, read tensor by tensor."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from oversmoothing.jobs import UserError

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; a `UserError` names a file that is missing or damaged."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path}: not a JSON object ({error})") from error


def tensor_files(folder: Path) -> dict[str, Path]:
    """Say which file holds each tensor of the model in a folder.

    Raises
    ------
    UserError
        If a file is missing or damaged.
    """
    if (folder / INDEX).is_file():
        index = read_json(folder / INDEX).get("weight_map")
        if not isinstance(index, dict) or not index:
            raise UserError(f"{folder / INDEX}: it has no weight_map")
        return {name: folder / file for name, file in index.items()}
    with _opened(folder / SINGLE) as file:
        return dict.fromkeys(file.keys(), folder / SINGLE)


def read_tensors(files: dict[str, Path], rows: dict[str, int] | None = None) -> Iterator[tuple[str, Tensor]]:
    """Yield tensors by name, file after file, so that one at a time is in memory.

    Parameters
    ----------
    files : dict of str to Path
        The tensors to read, as `tensor_files` gives them.
    rows : dict of str to int, optional
        Of these tensors, only so many first rows.

    Raises
    ------
    UserError
        If a file is missing, damaged or lacks a tensor.
    """
    for path in sorted(set(files.values())):
        with _opened(path) as file:
            for name in sorted(name for name, own in files.items() if own == path):
                try:
                    if rows and name in rows:
                        yield name, file.get_slice(name)[: rows[name]]
                    else:
                        yield name, file.get_tensor(name)
                except SafetensorError as error:
                    raise UserError(f"{path}: {name} cannot be read ({error}); fetch the file again") from error


def shapes(files: dict[str, Path]) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor without reading it (errors as `read_tensors`)."""
    found = {}
    for path in sorted(set(files.values())):
        with _opened(path) as file:
            held = set(file.keys())
            for name in (name for name, own in files.items() if own == path):
                if name not in held:
                    raise UserError(f"{path}: it has no tensor {name}, which the index places there")
                found[name] = tuple(file.get_slice(name).get_shape())
    return found


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, "pt")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: not a complete safetensors file ({error}); fetch it again") from error
