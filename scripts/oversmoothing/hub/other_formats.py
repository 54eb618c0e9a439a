"""Files of weights in other formats than safetensors: pickles, which can run code, and GGUF, which is converted."""

from collections.abc import Iterable
from pathlib import Path, PurePath

PICKLED = "pickled weights, which can run code and are never read"
GGUF = "weights in GGUF"
SIGNS = {b"PK\x03\x04": PICKLED, b"\x80": PICKLED, b"GGUF": GGUF}  # with which such files begin
SUFFIXES = {".gguf": GGUF} | dict.fromkeys((".bin", ".pt", ".pth", ".ckpt", ".pkl"), PICKLED)
CONVERSIONS = {
    PICKLED: "load the model where you trust it, save it to a folder with `save_pretrained`, and name that folder",
    GGUF: "name such a file itself, on this machine and ending in .gguf",
}


def other_format(path: str | Path) -> str | None:
    """Return the format of a file of weights that is no safetensors, by how it begins; None for any other file.

    The first eight bytes of safetensors are a number, and may be those of a pickle; then comes a brace.
    """
    with Path(path).open("rb") as file:
        begins = file.read(9)
    return None if begins[8:] == b"{" else next((SIGNS[sign] for sign in SIGNS if begins.startswith(sign)), None)


def instead_of_safetensors(names: Iterable[str]) -> str:
    """Return what to add to an error about a folder without safetensors: the weights that it holds, and what to do."""
    kinds = {SUFFIXES.get(PurePath(name).suffix) for name in names}
    return next((f", but {kind}: {CONVERSIONS[kind]}" for kind in CONVERSIONS if kind in kinds), "")
