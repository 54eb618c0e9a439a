"""Byte-pair encoding as SentencePiece does it: over characters, with a sign for the space, and bytes for the rest.

A character that is a token is a symbol; any other is spelled by the tokens ``<0x00>`` .. ``<0xFF>`` of its bytes, which
no merge joins. A space is the sign U+2581, and some tokenizers add one before a text. Here tokens stand for texts with
spaces in place of the sign, and the space before a text is part of what is read.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any

import numpy as np

from oversmoothing.bytewise.merges import Symbols
from oversmoothing.bytewise.utf8 import CODES
from oversmoothing.data.tokens.vocabulary import SPACE


class SpaceBefore(Enum):
    """Whether a tokenizer adds a space before a text."""

    NEVER = "never"
    UNLESS_THERE = "unless there"  # a text that begins with a space is read as the same text without it
    ALWAYS = "always"


def space_before(normalizer: Mapping[str, Any] | None, pre_tokenizer: Mapping[str, Any] | None) -> SpaceBefore:
    """Whether a tokenizer adds a space before a text; a `ValueError` names a part that does anything else to a text."""
    parts = normalizer.get("normalizers", [normalizer]) if normalizer else []
    replaced, before = False, SpaceBefore.NEVER
    for part in parts:
        match part:
            case {"type": "Prepend", "prepend": str(sign)} if sign == SPACE:
                before = SpaceBefore.ALWAYS
            case {"type": "Replace", "pattern": {"String": " "}, "content": str(sign)} if sign == SPACE:
                replaced = True
            case _:
                raise ValueError(f"it changes texts before it reads them ({part['type']})")
    match pre_tokenizer:
        case None:
            pass
        case {"type": "Split", "pattern": {"String": " "}} if replaced:
            pass  # no space is left
        case {"type": "Metaspace", "replacement": str(sign), "split": False} if sign == SPACE:
            replaced = True
            if pre_tokenizer["prepend_scheme"] != "never" and before is SpaceBefore.NEVER:
                before = SpaceBefore.UNLESS_THERE
        case _:
            what = "Metaspace, which cuts at spaces" if pre_tokenizer["type"] == "Metaspace" else pre_tokenizer["type"]
            raise ValueError(f"its pre-tokenizer {what} is none of those that are read here")
    if not replaced:
        raise ValueError(f"it has byte_fallback, but leaves spaces as they are and does not write them {SPACE}")
    return before


def symbols(model: Mapping[str, Any], added: Collection[int]) -> Symbols:
    """Symbols of a model with byte fallback; `added` are ids of added tokens, which merges do not make.

    A `ValueError` names a byte that has no token, or a merge of bytes.
    """
    vocabulary = model["vocab"]
    bytes_ = {bytes([value]): vocabulary.get(f"<0x{value:02X}>", -1) for value in range(256)}
    if lacking := [f"0x{byte[0]:02x}" for byte, id in bytes_.items() if id < 0 or id in added]:
        raise ValueError(f"it has byte_fallback, but its vocabulary lacks bytes ({', '.join(lacking[:3])})")
    if SPACE not in vocabulary:
        raise ValueError(f"its vocabulary lacks {SPACE}, the sign of a space")
    names = {f"<0x{value:02X}>" for value in range(256)}
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if {left, right, left + right} & names:
            raise ValueError(f"a merge joins bytes ({left} {right})")
    of_names = {name: id for name, id in vocabulary.items() if len(name) == 1 and name != " " and id not in added}
    return Symbols(bytes_, {name.replace(SPACE, " ").encode(): id for name, id in of_names.items()})


def are_tokens(names: Collection[str]) -> np.ndarray:
    """Whether each character, bool (0x110000,), is a token, given the names of the tokens, and so never its bytes."""
    found = np.zeros(CODES, bool)
    found[[ord(name) for name in names if len(name) == 1]] = True
    found[ord(" ")] = True
    return found
