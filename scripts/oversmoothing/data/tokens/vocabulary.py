"""The tokens of a study that does not read bytes: those of a tokenizer, without its special ids, numbered from 0.

A tokenizer has special ids, which stand for no text (the end of a text, padding), and a model's head may have rows for
ids that the tokenizer does not know, because it was padded to a round size. Neither is a token here: token t is the
tokenizer's id ``ids[t]``, in the same order. A distribution over tokens therefore has no place for them, and no
nucleus, sample or class can hold one; how much probability a model gave them is reported (`logits.special_mass_facts`).
"""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from oversmoothing.data.tokens.limits import check_file, encoded
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sums import check_sum

VOCABULARY = pa.schema(
    [
        pa.field("token", pa.int32(), nullable=False),
        pa.field("id", pa.int32(), nullable=False),  # the tokenizer's
        pa.field("bytes", pa.binary(), nullable=False),  # of the text for which it stands
    ]
)
warn_once = cache(logging.getLogger(__name__).warning)

FAST = "tokenizer.json"
AUTO = "auto"  # in place of the ids before texts: those of the tokenizer (`ids_before_texts`)
Before = int | Sequence[int] | None  # the ids before every text, as a user writes them
UNLIKE = "its tokenizer is not that of the other model"
BY_BYTES = "`oversmoothing compare-models --bytes` compares models of different tokenizers, byte by byte"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")  # a byte in vocabularies of SentencePiece
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # a space in vocabularies of SentencePiece
RANDOM = ("dropout", "nbest_size", "alpha")  # of a tokenizer's model: what makes it draw one of several encodings


@dataclass(frozen=True)
class Vocabulary:
    """Tokens of a study."""

    ids: np.ndarray  # the tokenizer's id of each token, rising; int32, shape (v,)
    texts: Sequence[bytes]  # the v texts for which they stand; a part of a character may be one
    special: Mapping[int, str] = field(default_factory=dict)  # names of the special ids, where the tokenizer was read

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def places(self) -> np.ndarray:
        """Token of each id of the tokenizer up to the largest, int64; -1 for an id that is no token."""
        places = np.full(int(self.ids.max()) + 1, -1, np.int64)
        places[self.ids] = np.arange(len(self))
        return places

    def tokens(self, ids: Sequence[int]) -> np.ndarray:
        """Return tokens, int64 (n,), of the tokenizer's ids; raise a `UserError` if one of them is special."""
        wanted = np.asarray(ids, np.int64)
        tokens = np.where(wanted < len(self.places), self.places[np.minimum(wanted, len(self.places) - 1)], -1)
        if (tokens < 0).any():
            odd = int(wanted[tokens < 0][0])
            raise UserError(f"the tokenizer gave the id {odd}, which is special or unknown to it")
        return tokens

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Return the text of tokens, as bytes; it may begin or end inside a character."""
        return b"".join(self.texts[token] for token in tokens)

    def table(self) -> pa.Table:
        """Return the vocabulary with schema `VOCABULARY`."""
        columns = [np.arange(len(self), dtype=np.int32), self.ids, list(self.texts)]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, VOCABULARY, strict=True)]
        return pa.table(arrays, VOCABULARY)


BYTES = Vocabulary(np.arange(256, dtype=np.int32), [bytes([value]) for value in range(256)])


def byte_tokenizer() -> Tokenizer:
    """Return the tokenizer whose ids are the bytes of a text; its vocabulary is `BYTES`."""
    tokenizer = Tokenizer(models.BPE({character: byte[0] for character, byte in _byte_level().items()}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def read_vocabulary(path: str | Path | None) -> Vocabulary:
    """Read a vocabulary that was written as a table; without a file, which bytes do not have, return `BYTES`."""
    if not path:
        return BYTES
    table = read_table(path, ["id", "bytes"])
    return Vocabulary(table["id"].to_numpy(), table["bytes"].to_pylist())


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Return the tokenizer of a file ``tokenizer.json``.

    It reads a text whole, the same each time, and its names as text.

    So what the file says of chance in an encoding, which a training takes, is not followed, and a warning says so.
    """
    path = Path(path)
    if not path.is_file():
        remedy = "a tokenizer in the fast format is needed (save it with `PreTrainedTokenizerFast.save_pretrained`)"
        raise UserError(f"{path}: no such file; {remedy}")
    check_sum(path)
    check_file(path)
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    tokenizer.no_truncation()
    tokenizer.no_padding()
    make_certain(tokenizer, path)
    return tokenizer


def make_certain(tokenizer: Tokenizer, path: str | Path) -> None:
    """Switch off whatever makes a tokenizer's encodings random, and say so once; `path` is for the message."""
    for key in RANDOM:
        if value := getattr(tokenizer.model, key, None):
            setattr(tokenizer.model, key, None)
            warn_once(f"{path}: its `{key}: {value:.4g}` makes encodings random, as for a training; here it is off")


def vocabulary_of(tokenizer: Tokenizer, path: str | Path) -> Vocabulary:
    """Return the vocabulary of a tokenizer; `path` is for messages.

    The text of a token follows from the tokenizer's decoder: byte-level (GPT-2, GPT-NeoX, Llama 3, Qwen, OLMo), or
    SentencePiece's with bytes as ``<0x0A>`` (Llama 2). Added tokens that are not special stand for themselves, but for
    SentencePiece's sign of a space: Gemma adds runs of it, which stand for spaces.
    """
    added = tokenizer.get_added_tokens_decoder()
    special = {id: token.content for id, token in added.items() if token.special}
    plain = {id: token.content for id, token in added.items() if id not in special}
    names: dict[int, str] = {}
    for name, id in tokenizer.get_vocab(with_added_tokens=True).items():
        if id in names and id not in added:
            raise UserError(f"{path}: {' and '.join(map(repr, sorted([names[id], name])))} have one id, {id}")
        names[id] = name
    ids = sorted(names.keys() - special.keys())
    if not ids:
        raise UserError(f"{path}: it has no token but special ones")
    text_of_name, text_of_added = _texts_of(tokenizer, path)
    texts = []
    for id in ids:
        try:
            texts.append(text_of_added(plain[id]) if id in plain else text_of_name(names[id]))
        except KeyError as error:
            fault = f"its token {names[id]!r}, id {id}, has the character {error}, which stands for no byte"
            raise UserError(
                f"{path}: {fault}; name the token among the `added_tokens` of a copy of the file"
            ) from error
    return Vocabulary(np.array(ids, np.int32), texts, special)


def first_difference(one: Vocabulary, other: Vocabulary) -> str | None:
    """Return the first token in which two vocabularies differ, described in words; None if they are equal."""
    for token in range(max(len(one), len(other))):
        described = [
            f"id {side.ids[token]} is {side.texts[token]!r}" if token < len(side) else "it has no further token"
            for side in (one, other)
        ]
        if described[0] != described[1]:
            words = f"of token {token}, {described[0]} in one and {described[1]} in the other"
            return _marked(one, other, token) or words
    return None


def _marked(one: Vocabulary, other: Vocabulary, token: int) -> str | None:
    """Say that a token of one of two vocabularies is special in the other; None if it is not so."""
    for plain, beside in ((one, other), (other, one)):
        id = int(plain.ids[token]) if token < len(plain) else -1
        name = beside.special.get(id)
        if name is not None and name.encode() == plain.texts[token]:
            here, there = ("a token", "special") if plain is one else ("special", "a token")
            return (
                f"id {id}, {name!r}, is {here} in one and {there} in the other, by `special` among the "
                f"`added_tokens` of {FAST}; write one value into a copy of a model's folder"
            )
    return None


def check_same(folder: str | Path, vocabulary: Vocabulary, name: str) -> None:
    """Raise a `UserError` that names the model unless the tokenizer in its folder has the study's vocabulary."""
    path = Path(folder) / FAST
    if not path.is_file():
        raise UserError(
            f"{name}: {folder} has no {FAST}; load its tokenizer with `AutoTokenizer.from_pretrained`, "
            "save it beside a copy of the weights with `save_pretrained`, and name that folder in the config"
        )
    if difference := first_difference(vocabulary, vocabulary_of(load_tokenizer(path), path)):
        raise UserError(f"{name}: {UNLIKE}: {difference} ({path}); {BY_BYTES}")


def ids_before_texts(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return ids that a tokenizer puts before every text, such as 1 of Llama 2, or two of GLM.

    What it puts behind a text is left out, because the texts of a study do not end.
    """
    read = encoded(tokenizer, "a", special=True)
    return tuple(read.ids[: [*read.special_tokens_mask, 0].index(0)])


def as_ids(before: Before) -> tuple[int, ...]:
    """Return the ids before every text that a user writes as one, as a list, or as None."""
    return () if before is None else (before,) if isinstance(before, int) else tuple(before)


def as_before(ids: Sequence[int]) -> Before:
    """Return the ids before every text as a user writes them; the inverse of `as_ids`."""
    return list(ids) if len(ids) > 1 else ids[0] if ids else None


def listed(ids: Sequence[int]) -> str:
    """Return ids as ``--bos`` takes them: "1" or "1,2"."""
    return ",".join(map(str, ids))


def _texts_of(tokenizer: Tokenizer, path: str | Path) -> tuple[Callable[[str], bytes], Callable[[str], bytes]]:
    """Return the functions from the name of a token to its text: of the model's tokens, and of added ones."""
    part = tokenizer.decoder or tokenizer.pre_tokenizer
    described = json.loads(part.__getstate__()) if part else {}
    kinds = {part.get("type") for part in (described, *described.get("decoders", described.get("pretokenizers", [])))}
    if "ByteLevel" in kinds:
        bytes_ = _byte_level()
        return lambda name: b"".join(bytes_[character] for character in name), str.encode
    if "ByteFallback" in kinds:
        return _text_of_piece, lambda name: name.replace(SPACE, " ").encode()
    raise UserError(
        f"{path}: its decoder is neither byte-level nor SentencePiece's with bytes, so that texts cannot be told from "
        "its tokens; such a tokenizer cannot be used here"
    )


def _byte_level() -> dict[str, bytes]:
    """Return the byte of each character of GPT-2's alphabet: itself if printable.

    The others, in order, are U+0100 and so on.
    """
    alphabet = set(pre_tokenizers.ByteLevel.alphabet())
    values = {character: ord(character) for character in alphabet if ord(character) < 0x100}
    others = sorted(set(range(0x100)) - set(values.values()))
    values |= dict(zip(sorted(alphabet - set(values)), others, strict=True))
    return {character: bytes([value]) for character, value in values.items()}


def _text_of_piece(name: str) -> bytes:
    byte = BYTE_TOKEN.fullmatch(name)
    return bytes([int(byte[1], 16)]) if byte else name.replace(SPACE, " ").encode()
