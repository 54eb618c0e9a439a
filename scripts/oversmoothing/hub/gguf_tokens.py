"""Which tokenizers in GGUF files are converted, and what a header must say of their tokens."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from gguf.constants import Keys, TokenType

from oversmoothing.hub.gguf_header import DAMAGED, shown
from oversmoothing.jobs import UserError

FULL = "name the model that it was made from, a folder of safetensors or a name on the hub"
BYTE_LEVEL = "gpt2"  # the value of `tokenizer.ggml.model` for byte-level byte-pair encoding
DIVISIONS = ("gpt-2", "smollm", "llama-bpe", "qwen2")  # values of `tokenizer.ggml.pre`: words before the merges
TYPES = {TokenType.NORMAL, TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNUSED}  # of such tokens
BEGUN = ("llama-bpe",)  # an id stands before texts unless the file says otherwise
OF_TOKENS = {key for key in vars(Keys.Tokenizer).values() if isinstance(key, str)}
SPECIAL = ("bos", "eos")  # ids of tokens that the config and the tokenizer need


def check_tokens(said: Mapping[str, Any]) -> None:
    """Raise for a tokenizer of another kind, tokens without a name or type, and ids without a token."""
    kind, division = said.get("tokenizer.ggml.model"), said.get("tokenizer.ggml.pre")
    if kind != BYTE_LEVEL:
        raise UserError(
            f"tokenizer.ggml.model is {shown(kind)}, not {BYTE_LEVEL!r}, byte-level byte-pair encoding; {FULL}"
        )
    if division not in DIVISIONS:
        raise UserError(
            f"tokenizer.ggml.pre is {shown(division)}, of which only {', '.join(DIVISIONS)} are known; {FULL}"
        )
    names = _texts(said, "tokenizer.ggml.tokens")
    merges = _texts(said, "tokenizer.ggml.merges")
    if odd := next((merge for merge in merges if merge.count(" ") != 1), None):
        raise UserError(f"tokenizer.ggml.merges: {shown(odd)} is not two tokens; {DAMAGED}")
    types = said.get("tokenizer.ggml.token_type")
    if not isinstance(types, tuple) or len(types) != len(names) or not set(types) <= TYPES:
        raise UserError(f"tokenizer.ggml.token_type is no list of the types of {len(names)} tokens; {DAMAGED}")
    control = {name for name, type in zip(names, types, strict=True) if type == TokenType.CONTROL}
    parts = (name for merge in merges for name in (*merge.split(" "), merge.replace(" ", "")))
    if odd := next(
        (name for name in chain((name for name in control if len(name) == 1), parts) if name in control), None
    ):
        raise UserError(
            f"tokenizer.ggml.token_type says that {shown(odd)}, a part of words, is a control token; {DAMAGED}"
        )
    for each in SPECIAL:
        id = said.get(key := f"tokenizer.ggml.{each}_token_id")
        if id is not None and not (type(id) is int and 0 <= id < len(names)):
            raise UserError(f"{key} is {shown(id)}, and there are {len(names)} tokens; {DAMAGED}")
    begins = begins_with_an_id(said)
    if type(begins) is not bool:
        raise UserError(f"tokenizer.ggml.add_bos_token is {shown(begins)}, neither true nor false; {DAMAGED}")
    if begins and said.get("tokenizer.ggml.bos_token_id") is None:
        raise UserError(f"tokenizer.ggml.bos_token_id is absent, and it stands before a text; {DAMAGED}")


def begins_with_an_id(said: Mapping[str, Any]) -> Any:
    """Return whether an id stands before texts, as the file says, or as the kind of tokenizer implies."""
    return said.get("tokenizer.ggml.add_bos_token", said["tokenizer.ggml.pre"] in BEGUN)


def _texts(said: Mapping[str, Any], key: str) -> list[str]:
    if not isinstance(value := said.get(key), list):
        raise UserError(f"{key} is {shown(value)}, no list of texts; {DAMAGED}")
    return value
