"""The tokenizers that GGUF files describe, as `tokenizer.json` of the models that they were made from.

transformers' own reader leaves out how most of them divide a text before the merges.
"""

import logging
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from gguf import TokenType
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

from oversmoothing.data.tokens.vocabulary import SPACE
from oversmoothing.hub.gguf_tokens import BYTE_LEVEL, DIVISIONS, adds_a_space, begins_with_an_id
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

Entries = list[tuple[str, int, int]]  # names, ids and types of tokens


def gguf_tokenizer(said: Mapping[str, Any]) -> Tokenizer:
    """Return the byte-pair tokenizer that the keys ``tokenizer.ggml.*`` of a GGUF file describe.

    They have passed `hub.gguf_tokens.check_tokens`. A `UserError` is raised if two tokens have one name.
    """
    names, types = said["tokenizer.ggml.tokens"], said["tokenizer.ggml.token_type"]
    entries = [(name, id, type) for id, (name, type) in enumerate(zip(names, types, strict=True))]
    build = _of_bytes if said["tokenizer.ggml.model"] == BYTE_LEVEL else _of_pieces
    tokenizer, entries = build(said, [entry for entry in entries if entry[-1] != TokenType.UNUSED])
    special = (TokenType.CONTROL, TokenType.UNKNOWN)
    tokenizer.add_special_tokens(
        [AddedToken(name, normalized=False, special=True) for name, _, type in entries if type in special]
    )
    tokenizer.add_tokens(
        [AddedToken(name, normalized=False) for name, _, type in entries if type == TokenType.USER_DEFINED]
    )
    if begins_with_an_id(said):
        first = said["tokenizer.ggml.bos_token_id"]
        tokenizer.post_processor = TemplateProcessing(
            single=[names[first], "$A"], special_tokens=[(names[first], int(first))]
        )
    return tokenizer


def _of_bytes(said: Mapping[str, Any], entries: Entries) -> tuple[Tokenizer, Entries]:
    """Return a tokenizer of byte-level byte-pair encoding without its added tokens, and the tokens."""
    vocabulary = _vocabulary(entries)
    if lacking := sorted(set(pre_tokenizers.ByteLevel.alphabet()) - set(vocabulary)):
        logger.warning("its vocabulary lacks %d of the 256 bytes; texts that hold one cannot be read", len(lacking))
    merges = [tuple(merge.split(" ")) for merge in said["tokenizer.ggml.merges"]]
    division = DIVISIONS[said["tokenizer.ggml.pre"]]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=division in WHOLE_WORDS))
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[division]()
    if division in NORMALIZED:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, entries


def _of_pieces(said: Mapping[str, Any], entries: Entries) -> tuple[Tokenizer, Entries]:
    """Return a tokenizer of SentencePiece's byte-pair encoding without its added tokens, and the tokens.

    The pair that makes the token of the highest score is merged first. Gemma's runs of spaces, which its own tokenizer
    cuts off before that, are added tokens in GGUF; in its tokenizer.json they are what is merged first.
    """
    scores = dict(zip(said["tokenizer.ggml.tokens"], said["tokenizer.ggml.scores"], strict=True))
    runs = {
        name: SPACE * len(name) for name, _, type in entries if type == TokenType.USER_DEFINED and not name.strip(" ")
    }
    runs = {name: run for name, run in runs.items() if run not in scores}
    scores |= dict.fromkeys(runs.values(), math.inf)
    entries = [(runs[name], id, TokenType.NORMAL) if name in runs else (name, id, type) for name, id, type in entries]
    parts = dict.fromkeys(name for name, _, type in entries if type == TokenType.NORMAL)
    merges = [pair for name in sorted(parts, key=scores.__getitem__, reverse=True) for pair in _pairs(name, parts)]
    id = said.get("tokenizer.ggml.unknown_token_id")
    unknown = None if id is None else said["tokenizer.ggml.tokens"][id]
    vocabulary = _vocabulary(entries)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    before = [normalizers.Prepend(SPACE)] if adds_a_space(said) else []
    tokenizer.normalizer = normalizers.Sequence([*before, normalizers.Replace(" ", SPACE)])
    behind = [decoders.Strip(" ", 1, 0)] if adds_a_space(said) else []
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *behind]
    )
    return tokenizer, entries


def _pairs(name: str, parts: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of tokens that make one token, the longest beginning first."""
    for at in range(len(name) - 1, 0, -1):
        if name[:at] in parts and name[at:] in parts:
            yield name[:at], name[at:]


def _vocabulary(entries: Entries) -> dict[str, int]:
    vocabulary = {name: id for name, id, _ in entries}
    if len(vocabulary) < len(entries):
        raise UserError("tokenizer.ggml.tokens: two tokens have one name")
    return vocabulary


def _of_gpt2(*before: Any) -> Any:
    return pre_tokenizers.Sequence([*before, pre_tokenizers.ByteLevel(add_prefix_space=False)])


def _of_words(division: str) -> Any:
    split = pre_tokenizers.Split(Regex(GGUF_PRE_TOKENIZER_SPLITS[division]), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


# How a text is divided into words before the merges, as in the tokenizer.json of the models.
PRE_TOKENIZERS: dict[Any, Callable[[], Any]] = {
    "gpt-2": _of_gpt2,
    "smollm": lambda: _of_gpt2(pre_tokenizers.Digits(individual_digits=True)),
    **{name: partial(_of_words, name) for name in ("llama-bpe", "qwen2", "tekken", "gpt-4o")},
}
WHOLE_WORDS = ("llama-bpe", "tekken")  # a word that is a token is not divided, whatever its merges
NORMALIZED = ("qwen2",)  # in NFC
