"""Reading of a file ``tokenizer.json`` as a spelling, or refusal of a tokenizer by name."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer

from oversmoothing.bytewise.added import AddedSegments, around, lengths_of
from oversmoothing.bytewise.characters import classes
from oversmoothing.bytewise.merges import Merges
from oversmoothing.bytewise.segments import Segments, Split
from oversmoothing.bytewise.sentencepiece import SpaceBefore, are_tokens, space_before, symbols
from oversmoothing.bytewise.spelling import Spelling
from oversmoothing.data.tokens.vocabulary import SPACE, load_tokenizer, vocabulary_of
from oversmoothing.jobs import UserError


def read_spelling(path: str | Path) -> Spelling:
    """Spelling of a file ``tokenizer.json``; a `UserError` says why a tokenizer cannot be read byte by byte."""
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
        composed, space = False, space_before(described["normalizer"], described["pre_tokenizer"])
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
    merges = Merges(of_merges, _merges(model), symbols(model, added.values()) if fallback else None)
    unmerged = [id for id, text in enumerate(of_merges) if text and not merges.reachable[id]]
    whole = {texts[id] or b"": id for id in unmerged if model["ignore_merges"]} | of_added
    known = are_tokens([*model["vocab"], *added]) if fallback else None
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
    """Ids of the added tokens that are not special by their texts; a `ValueError` names one that takes more.

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
    starts = partial(_starts, cut.pre_tokenize_str) if cut else (lambda text: [0] if text else [])
    if not added:
        return starts
    lengths = lengths_of(added)

    def split(text: str) -> list[int]:
        found, at = [], 0
        for begin, end in around(lengths, text):
            found += [at + start for start in starts(text[at:begin])] + [begin]
            at = end
        return found + [at + start for start in starts(text[at:])]

    return split


def _starts(pre_tokenize: Any, text: str) -> list[int]:
    return [start for _, (start, _) in pre_tokenize(text)]


def _check_model(model: Mapping[str, Any]) -> None:
    """Raise a `ValueError` unless a model is byte-pair encoding without chance and prefixes."""
    if model["type"] != "BPE":
        raise ValueError(f"it is no byte-pair encoding but {model['type']}")
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
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


def _merges(model: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Ids (left, right, merged) of a model's merges, by rank."""
    ids, merges = model["vocab"], []
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        merges.append((ids[left], ids[right], ids[left + right]))
    return merges
