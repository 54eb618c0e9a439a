"""What tables and figures call the classes that models choose from: bytes, or the tokens of a vocabulary."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from oversmoothing.data.byte_names import byte_name
from oversmoothing.data.tokens.vocabulary import read_vocabulary
from oversmoothing.tables.page import Bytes, Cell, literal
from oversmoothing.tables.visible_bytes import OPEN_BOX, visible


@dataclass(frozen=True)
class Names:
    """Names of the classes of a study."""

    unit: str  # "byte" or "token"
    size: int  # how many classes there are
    name: Callable[[int], str]
    cell: Callable[[str], Cell]  # of a page, from a name
    legend: str


BYTES = Names("byte", 256, byte_name, Bytes, "Bytes are named as in Figure A.1")


def names_of(vocabulary: str | Path | None) -> Names:
    """Return names of the tokens of a vocabulary, by their text; without one, of bytes."""
    if not vocabulary:
        return BYTES
    texts = read_vocabulary(vocabulary).texts
    return Names(
        "token",
        len(texts),
        lambda token: visible(texts[token]).replace(" ", OPEN_BOX),
        literal,
        "Tokens are named by their text",
    )
