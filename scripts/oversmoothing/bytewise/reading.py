"""Reading of a file ``tokenizer.json`` as a spelling, or refusal of a tokenizer by name.

With byte fallback, byte-pair encoding is over characters, as SentencePiece does it. A character that is a token is a
symbol; any other is spelled by the tokens ``<0x00>`` .. ``<0xFF>`` of its bytes, which no merge joins. A space is the
sign U+2581, and some tokenizers add one before a text. Here tokens stand for texts with spaces in place of the sign,
and the space before a text is part of what is read.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer

from oversmoothing.bytewise.characters import classes
from oversmoothing.bytewise.merges import Merges, Symbols
from oversmoothing.bytewise.segments import AddedSegments, Segments, Split, any_of
from oversmoothing.bytewise.spelling import SpaceBefore, Spelling
from oversmoothing.bytewise.utf8 import CODES
from oversmoothing.data.tokens.vocabulary import SPACE, load_tokenizer, vocabulary_of
from oversmoothing.jobs import UserError


def read_spelling(path: str | Path) -> Spelling:
    """Return the spelling of a file ``tokenizer.json``.

    A `UserError` says why a tokenizer cannot be read byte by byte.
    """
    tokenizer = load_tokenizer(path)
    described = json.loads(tokenizer.to_str())
    try:
        return _spelling(tokenizer, described, path)
    except ValueError as error:
        raise UserError(f"{path}: {error}; such a tokenizer cannot be read byte by byte here") from error


def _spelling(tokenizer: Tokenizer, described: dict[str, Any], path: str | Path) -> Spelling:
    model, fallback, cut = described["model"], bool(described["model"].get("byte_fallback")), tokenizer.pre_tokenizer
    _check_model(model)
    if fallback:
        composed, space = False, _space_before(described["normalizer"], described["pre_tokenizer"])
        described, cut = described | {"pre_tokenizer": None}, None
    else:
        composed, space = _check_normalizer(described["normalizer"]), SpaceBefore.NEVER
    vocabulary = vocabulary_of(tokenizer, path)
    texts: list[bytes | None] = [None] * (int(vocabulary.ids.max()) + 1)
    for id, text in zip(vocabulary.ids.tolist(), vocabulary.texts, strict=True):
        texts[id] = text
    added = _added(described["added_tokens"], fallback)
    if added and space is not SpaceBefore.NEVER:
        raise ValueError(f"it adds spaces around its added token {next(iter(added))!r}")
    of_added = {text.encode(): id for text, id in added.items()}
    of_merges = [None if id in of_added.values() else text for id, text in enumerate(texts)]
    ids = model["vocab"]
    by_rank = [(ids[left], ids[right], ids[left + right]) for left, right in model["merges"]]
    merges = Merges(of_merges, by_rank, _symbols(model, added.values()) if fallback else None)
    unmerged = [id for id, text in enumerate(of_merges) if text and not merges.reachable[id]]
    whole = {texts[id] or b"": id for id in unmerged if model["ignore_merges"]} | of_added
    known = _are_tokens([*model["vocab"], *added]) if fallback else None
    split, literals = _split(cut, list(added)), {character for text in added for character in text}
    kinds = classes(described["pre_tokenizer"], literals, known)
    kinds = kinds.merged(split, lambda each: (each if each in literals else "", known is not None and known[ord(each)]))
    if cut:
        segments = Segments(split, kinds.classes, kinds.characters, [*added, *kinds.runs(split)])
    else:
        segments = AddedSegments(split, kinds.classes, kinds.characters, list(added))
    divisible = None if known is None else {k for k, each in enumerate(kinds.characters) if not known[ord(each)]}
    return Spelling(texts, merges, segments, whole, composed, divisible, space)


def _added(tokens: Sequence[Mapping[str, Any]], fallback: bool) -> dict[str, int]:
    """Return ids of the added tokens that are not special by their texts; a `ValueError` names one that takes more.

    With byte fallback, one that has the sign of a space is found in no text, unless texts are read with the sign.
    """
    added = {}
    for token in tokens:
        if token["special"] or (fallback and SPACE in token["content"] and not token["normalized"]):
            continue
        if token["single_word"] or token["lstrip"] or token["rstrip"]:
            raise ValueError(f"its added token {token['content']!r} takes white space or single words alone")
        added[token["content"].replace(SPACE, " ") if fallback else token["content"]] = token["id"]
    return added


def _split(cut: PreTokenizer | None, added: list[str]) -> Split:
    """Return what cuts a text as a tokenizer does: around its added tokens, and the rest by its pre-tokenizer."""

    def starts(text: str) -> list[int]:
        return [start for _, (start, _) in cut.pre_tokenize_str(text)] if cut else [0] if text else []

    if not added:
        return starts
    tokens = any_of(added)

    def split(text: str) -> list[int]:
        found, at = [], 0
        for token in tokens.finditer(text):
            found += [at + start for start in starts(text[at : token.start()])] + [token.start()]
            at = token.end()
        return found + [at + start for start in starts(text[at:])]

    return split


def _check_model(model: Mapping[str, Any]) -> None:
    """Raise a `ValueError` unless a model is byte-pair encoding without prefixes."""
    if model["type"] != "BPE":
        raise ValueError(f"it is no byte-pair encoding but {model['type']}")
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            raise ValueError(f"its {key} is {model[key]!r}")
    if model.get("byte_fallback") and model["ignore_merges"]:
        raise ValueError("it has both byte_fallback and ignore_merges")


def _check_normalizer(normalizer: Mapping[str, Any] | None) -> bool:
    """Return whether texts are brought to NFC; a `ValueError` names any other change of a text."""
    if normalizer is None:
        return False
    parts = normalizer["normalizers"] if normalizer["type"] == "Sequence" else [normalizer]
    if odd := [part["type"] for part in parts if part["type"] != "NFC"]:
        raise ValueError(f"it changes texts before it reads them ({odd[0]})")
    return bool(parts)


def _space_before(normalizer: Mapping[str, Any] | None, pre_tokenizer: Mapping[str, Any] | None) -> SpaceBefore:
    """Return whether a tokenizer adds a space before a text.

    A `ValueError` names a part that does anything else to a text.
    """
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


def _symbols(model: Mapping[str, Any], added: Collection[int]) -> Symbols:
    """Return symbols of a model with byte fallback; `added` are ids of added tokens, which merges do not make.

    A `ValueError` names a byte that has no token, or a merge of bytes.
    """
    vocabulary = model["vocab"]
    bytes_ = {bytes([value]): vocabulary.get(f"<0x{value:02X}>", -1) for value in range(256)}
    if lacking := [f"0x{byte[0]:02x}" for byte, id in bytes_.items() if id < 0 or id in added]:
        raise ValueError(f"it has byte_fallback, but its vocabulary lacks bytes ({', '.join(lacking[:3])})")
    if SPACE not in vocabulary:
        raise ValueError(f"its vocabulary lacks {SPACE}, the sign of a space")
    names = {f"<0x{value:02X}>" for value in range(256)}
    for left, right in model["merges"]:
        if {left, right, left + right} & names:
            raise ValueError(f"a merge joins bytes ({left} {right})")
    of_names = {name: id for name, id in vocabulary.items() if len(name) == 1 and name != " " and id not in added}
    return Symbols(bytes_, {name.replace(SPACE, " ").encode(): id for name, id in of_names.items()})


def _are_tokens(names: Collection[str]) -> np.ndarray:
    """Return whether each character, bool (0x110000,), is a token, given the tokens' names, and so never its bytes."""
    found = np.zeros(CODES, bool)
    found[[ord(name) for name in names if len(name) == 1]] = True
    found[ord(" ")] = True
    return found
