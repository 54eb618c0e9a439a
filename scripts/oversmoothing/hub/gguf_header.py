"""The header of a GGUF file: its keys, and where its tensors lie, read within bounds and without their data.

A damaged or hostile header may name more keys, items or bytes than there are. Each count is therefore compared with
the bytes that are left before anything is made of it, and the tensors must fill the rest of the file.
"""

import mmap
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from oversmoothing.jobs import UserError
from oversmoothing.printable import printable

LENGTH = struct.Struct("<Q")  # before a text
MAGIC, VERSIONS = b"GGUF", (2, 3)
LONGEST = 1 << 26  # bytes of a header: a vocabulary of 256,000 tokens with its merges takes 16 million
LONGEST_KEY, LONGEST_NAME, MOST_DIMENSIONS = 256, 64, 4  # the last two are those of the format
# Of values by their code: numbers, then the others.
NUMBERS = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "u1"}
NUMBERS |= {10: "<u8", 11: "<i8", 12: "<f8"}
FLAG, TEXT, ARRAY = 7, 8, 9
ALIGNMENT, USUAL_ALIGNMENT, LARGEST_ALIGNMENT = "general.alignment", 32, 1 << 16
SMALLEST_KEY, SMALLEST_TENSOR = 8 + 1 + 4 + 1, 8 + 1 + 4 + 8 + 4 + 8  # bytes
WIDTH = 60  # of a value in a message
DAMAGED = "the file is damaged or not complete; fetch it again"


class Tensor(NamedTuple):
    """A tensor of a GGUF file: its shape, rows first, how it is stored, its first byte and size, and the file."""

    shape: tuple[int, ...]
    kind: GGMLQuantizationType
    start: int
    size: int
    path: Path


class Header(NamedTuple):
    """What a GGUF file says of itself: the values of its keys, and its tensors by name, in the order of their data.

    Of a key that holds an array, the value is a list of texts or a tuple of numbers.
    """

    said: dict[str, Any]
    tensors: dict[str, Tensor]


def read_header(path: str | Path) -> Header:
    """Return the header of a GGUF file whose tensors fill its data section without a hole, an overlap or a rest.

    A `UserError` names the file and the key, tensor or number that is wrong.
    """
    path = Path(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise UserError(f"{path}: no GGUF file, which begins with the letters GGUF; fetch it again")
        version = int.from_bytes(file.read(4), "little")
        if version not in VERSIONS:
            raise UserError(
                f"{path}: GGUF of version {version}, and only 2 and 3, little-endian, are read; fetch another"
            )
        with mmap.mmap(file.fileno(), min(size, LONGEST), access=mmap.ACCESS_READ) as held:
            try:
                header = _read(_Bytes(held), path, size)
                _check_filling(file, header.tensors, size)
                return header
            except UserError as fault:
                raise UserError(f"{path}: {printable(str(fault))}: {DAMAGED}") from None


class _Bytes:
    """The bytes of a header, which are taken one value after another."""

    def __init__(self, held: mmap.mmap) -> None:
        self.held, self.at = held, len(MAGIC) + 4  # behind the version

    def check(self, count: int, smallest: int, what: str) -> None:
        """Raise unless `count` things of at least so many bytes can follow."""
        if count * smallest > len(self.held) - self.at:
            raise UserError(f"{what}, for which its header has no room")

    def number(self, code: str, what: str) -> Any:
        """Take a number of a type of `struct`."""
        size = struct.calcsize(code)
        self.check(1, size, what)
        (value,) = struct.unpack_from(f"<{code}", self.held, self.at)
        self.at += size
        return value

    def text(self, what: str, longest: int = LONGEST) -> str:
        """Take a text of UTF-8."""
        (text,) = self.texts(1, what)
        if len(text) > longest:
            raise UserError(f"{what} has {len(text)} letters, and at most {longest} are read")
        return text

    def texts(self, count: int, what: str) -> list[str]:
        """Take texts of UTF-8, of which a vocabulary has a few hundred thousand."""
        self.check(count, LENGTH.size, f"{what} has {count} texts")
        held, at, taken = self.held, self.at, []
        for _ in range(count):
            length = LENGTH.unpack(held[at : at + LENGTH.size].ljust(LENGTH.size, b"\0"))[0]
            at += LENGTH.size
            taken.append(held[at : at + length])
            at += length
            if at > len(held):
                raise UserError(f"{what} has a text of {length} bytes, for which its header has no room")
        self.at = at
        try:
            return [text.decode() for text in taken]
        except UnicodeDecodeError:
            raise UserError(f"{what} is no UTF-8") from None

    def value(self, code: int, key: str) -> Any:
        """Take the value of a key, of a type by its code."""
        if code == TEXT:
            return self.text(key)
        if code != ARRAY:
            return self.numbers(code, 1, key)[0]
        code, count = self.number("I", key), self.number("Q", key)
        if code != TEXT:
            return self.numbers(code, count, key)
        return self.texts(count, key)

    def numbers(self, code: int, count: int, key: str) -> tuple[Any, ...]:
        """Take numbers of one type."""
        if code not in NUMBERS:
            raise UserError(f"{key} is " + ("an array of arrays" if code == ARRAY else f"of the unknown type {code}"))
        kind = np.dtype(NUMBERS[code])
        self.check(count, kind.itemsize, f"{key} has {count} numbers")
        taken = np.frombuffer(self.held[self.at : self.at + count * kind.itemsize], kind)
        self.at += taken.nbytes
        if code == FLAG and (taken > 1).any():
            raise UserError(f"{key} is {taken.max()}, neither true nor false")
        return tuple((taken.astype(bool) if code == FLAG else taken).tolist())


def _read(taken: _Bytes, path: Path, size: int) -> Header:
    tensors, keys = taken.number("Q", "tensor_count"), taken.number("Q", "kv_count")
    taken.check(keys, SMALLEST_KEY, f"kv_count is {keys}")
    said: dict[str, Any] = {}
    for _ in range(keys):
        key = taken.text("the name of a key", LONGEST_KEY)
        if key in said:
            raise UserError(f"it has the key {key!r} twice")
        said[key] = taken.value(taken.number("I", key), key)
    taken.check(tensors, SMALLEST_TENSOR, f"tensor_count is {tensors}")
    described = [_tensor(taken, size) for _ in range(tensors)]
    alignment = said.get(ALIGNMENT, USUAL_ALIGNMENT)
    if type(alignment) is not int or not 0 < alignment <= LARGEST_ALIGNMENT or alignment & (alignment - 1):
        raise UserError(f"{ALIGNMENT} is {shown(alignment)}, no power of two up to {LARGEST_ALIGNMENT}")
    return Header(said, _placed(described, _aligned(taken.at, alignment), alignment, path, size))


def _tensor(taken: _Bytes, size: int) -> tuple[str, int, tuple[int, ...], GGMLQuantizationType, int]:
    """Take what the header says of a tensor: its name, its place among the data, shape, type and size in bytes."""
    name = taken.text("the name of a tensor", LONGEST_NAME)
    what = f"its tensor {name!r}"
    dimensions = taken.number("I", what)
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise UserError(f"{what} has {dimensions} dimensions, and at most {MOST_DIMENSIONS} are possible")
    shape = tuple(taken.number("Q", what) for _ in range(dimensions))[::-1]
    code, offset = taken.number("I", what), taken.number("Q", what)
    if code not in list(GGMLQuantizationType):
        raise UserError(f"{what} is of the unknown type {code}")
    kind = GGMLQuantizationType(code)
    block, of_block = GGML_QUANT_SIZES[kind]
    if not all(shape) or shape[-1] % block:
        raise UserError(f"{what} has the shape {shape}, impossible in {kind.name}")
    if (needed := prod(shape) // block * of_block) > size:
        raise UserError(f"{what} of shape {shape} takes {needed} bytes, and the file has {size}")
    return name, offset, shape, kind, needed


def _placed(described: list[Any], begins: int, alignment: int, path: Path, size: int) -> dict[str, Tensor]:
    """Return the tensors by name, in the order of the data section, which begins at the byte `begins`."""
    placed: dict[str, Tensor] = {}
    end = last = begins  # with and without what fills the last tensor up
    for name, offset, shape, kind, needed in sorted(described, key=lambda tensor: tensor[1]):
        if name in placed:
            raise UserError(f"it has the tensor {name!r} twice")
        start = begins + offset
        if start != end:
            raise UserError(f"its tensor {name!r} begins at byte {start}, and should at {end}, where another ends")
        placed[name] = Tensor(shape, kind, start, needed, path)
        last, end = start + needed, _aligned(start + needed, alignment)
    if described and size not in (last, end):
        raise UserError(f"its tensors end at byte {last}, and the file at {size}")
    return placed


def _check_filling(file: BinaryIO, tensors: Mapping[str, Tensor], size: int) -> None:
    """Raise unless zeros fill tensors up: a smaller type may leave as many bytes as there are behind a short one."""
    begin = [*(tensor.start for tensor in tensors.values()), size]
    for (name, tensor), following in zip(tensors.items(), begin[1:], strict=True):
        file.seek(end := tensor.start + tensor.size)
        if file.read(following - end).strip(b"\0"):
            raise UserError(f"its tensor {name!r}, of type {tensor.kind.name}, ends at byte {end}, and more follows")


def _aligned(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment


def shown(value: Any) -> str:
    """Return a value of a header as a message shows it, whatever its length; None is that of a key that is absent."""
    if value is None:
        return "absent"
    text = repr(value[:WIDTH] if isinstance(value, str | list | tuple) else value)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
