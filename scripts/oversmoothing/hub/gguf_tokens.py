"""Which tokenizers in GGUF files are converted, and what a header must say of their tokens."""

import math
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from gguf.constants import Keys, TokenType

from oversmoothing.hub.gguf_header import DAMAGED, shown
from oversmoothing.jobs import UserError

FULL = "name the model that it was made from, a folder of safetensors or a name on the hub"
# Values of `tokenizer.ggml.model`: byte-level byte-pair encoding, and that of SentencePiece with its scores.
BYTE_LEVEL, PIECES = "gpt2", "llama"
# Values of `tokenizer.ggml.pre`, how byte-level encoding divides words before the merges: the name of a way here.
DIVISIONS = dict.fromkeys(("gpt-2", "phi-2", "mpt", "olmo", "jais"), "gpt-2")
DIVISIONS |= dict.fromkeys(
    ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"), "smollm"
)
DIVISIONS |= dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "lfm2"), "llama-bpe")
DIVISIONS |= {"qwen2": "qwen2", "deepseek-r1-qwen": "qwen2", "tekken": "tekken", "gpt-4o": "gpt-4o"}
TYPES = {TokenType.NORMAL, TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNUSED}  # of byte-level tokens
TYPES_OF_PIECES = TYPES | {TokenType.UNKNOWN, TokenType.BYTE}
BYTE = re.compile(r"<0x[0-9A-F]{2}>")
BEGUN = ("llama-bpe", "tekken")  # an id stands before texts unless the file says otherwise
OF_TOKENS = {key for key in vars(Keys.Tokenizer).values() if isinstance(key, str)}
SPECIAL = ("bos", "eos", "unknown")  # ids of tokens that the config and the tokenizer need


def check_tokens(said: Mapping[str, Any]) -> None:
    """Raise for a tokenizer of another kind, tokens without a name or type, and ids without a token."""
    kind = said.get("tokenizer.ggml.model")
    if kind not in CHECKS:
        raise UserError(
            f"tokenizer.ggml.model is {shown(kind)}, neither {BYTE_LEVEL!r}, byte-level byte-pair encoding, nor "
            f"{PIECES!r}, that of SentencePiece; {FULL}"
        )
    names = _texts(said, "tokenizer.ggml.tokens")
    types = said.get("tokenizer.ggml.token_type")
    known = TYPES if kind == BYTE_LEVEL else TYPES_OF_PIECES
    if not isinstance(types, tuple) or len(types) != len(names) or not set(types) <= known:
        raise UserError(f"tokenizer.ggml.token_type is no list of the types of {len(names)} tokens; {DAMAGED}")
    CHECKS[kind](said, names, types)
    for each in SPECIAL:
        id = said.get(key := f"tokenizer.ggml.{each}_token_id")
        if id is not None and not (type(id) is int and 0 <= id < len(names)):
            raise UserError(f"{key} is {shown(id)}, and there are {len(names)} tokens; {DAMAGED}")
    for key, flag in (("add_bos_token", begins_with_an_id(said)), ("add_space_prefix", adds_a_space(said))):
        if type(flag) is not bool:
            raise UserError(f"tokenizer.ggml.{key} is {shown(flag)}, neither true nor false; {DAMAGED}")
    if begins_with_an_id(said) and said.get("tokenizer.ggml.bos_token_id") is None:
        raise UserError(f"tokenizer.ggml.bos_token_id is absent, and it stands before a text; {DAMAGED}")


def _check_byte_level(said: Mapping[str, Any], names: list[str], types: tuple[int, ...]) -> None:
    if (division := said.get("tokenizer.ggml.pre")) not in DIVISIONS:
        raise UserError(
            f"tokenizer.ggml.pre is {shown(division)}, of which only {', '.join(DIVISIONS)} are known; {FULL}"
        )
    merges = _texts(said, "tokenizer.ggml.merges")
    if odd := next((merge for merge in merges if merge.count(" ") != 1), None):
        raise UserError(f"tokenizer.ggml.merges: {shown(odd)} is not two tokens; {DAMAGED}")
    control = {name for name, type in zip(names, types, strict=True) if type == TokenType.CONTROL}
    parts = (name for merge in merges for name in (*merge.split(" "), merge.replace(" ", "")))
    if odd := next(
        (name for name in chain((name for name in control if len(name) == 1), parts) if name in control), None
    ):
        raise UserError(
            f"tokenizer.ggml.token_type says that {shown(odd)}, a part of words, is a control token; {DAMAGED}"
        )


def _check_pieces(said: Mapping[str, Any], names: list[str], types: tuple[int, ...]) -> None:
    scores = said.get("tokenizer.ggml.scores")
    if not isinstance(scores, tuple) or len(scores) != len(names) or not all(map(_is_finite, scores)):
        raise UserError(f"tokenizer.ggml.scores is no list of the scores of {len(names)} tokens; {DAMAGED}")
    for name, type in zip(names, types, strict=True):
        if type == TokenType.BYTE and not BYTE.fullmatch(name):
            raise UserError(f"tokenizer.ggml.token_type says that {shown(name)} is a byte; {DAMAGED}")
    for key in ("remove_extra_whitespaces", "precompiled_charsmap"):
        if said.get(key := f"tokenizer.ggml.{key}"):
            raise UserError(f"{key} is {shown(said[key])}, which is not converted; {FULL}")


CHECKS = {BYTE_LEVEL: _check_byte_level, PIECES: _check_pieces}


def begins_with_an_id(said: Mapping[str, Any]) -> Any:
    """Return whether an id stands before texts, as the file says, or as the kind of tokenizer implies."""
    implied = said["tokenizer.ggml.model"] == PIECES or DIVISIONS[said["tokenizer.ggml.pre"]] in BEGUN
    return said.get("tokenizer.ggml.add_bos_token", implied)


def adds_a_space(said: Mapping[str, Any]) -> Any:
    """Return whether a space stands before texts, as the file says, or as the kind of tokenizer implies."""
    return said.get("tokenizer.ggml.add_space_prefix", said["tokenizer.ggml.model"] == PIECES)


def _is_finite(score: Any) -> bool:
    return isinstance(score, float) and math.isfinite(score)


def _texts(said: Mapping[str, Any], key: str) -> list[str]:
    if not isinstance(value := said.get(key), list):
        raise UserError(f"{key} is {shown(value)}, no list of texts; {DAMAGED}")
    return value
