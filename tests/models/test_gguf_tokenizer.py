"""SentencePiece's tokenizers in GGUF: the ids are those of its algorithm, written down here, and of transformers."""

import random
import re
from itertools import pairwise

import pytest
from gguf import TokenType
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers.integrations.gguf import convert_gguf_tokenizer

from oversmoothing.bytewise.reading import read_spelling
from oversmoothing.bytewise.spelling import SpaceBefore
from oversmoothing.data.tokens.vocabulary import SPACE, vocabulary_of
from oversmoothing.hub.gguf_tokens import check_tokens
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.gguf_tokenizer import gguf_tokenizer

TEXT = "the people of the town read their letters where the river flows past the houses and the water of the river "
FIRST = [("<unk>", TokenType.UNKNOWN), ("<s>", TokenType.CONTROL), ("</s>", TokenType.CONTROL)]
FIRST += [(f"<0x{byte:02X}>", TokenType.BYTE) for byte in range(256)]
RUNS = [(" " * length, TokenType.USER_DEFINED) for length in (2, 3)]  # as GGUF has those of Gemma
ADDED = [("<h1>", TokenType.USER_DEFINED), ("\n", TokenType.USER_DEFINED), ("\n\n", TokenType.USER_DEFINED)]


def described(space=True, runs=False, shuffled=False):
    """Return what a header says of tokens whose merges were learned from a text, or have scores in random order."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
    trained.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=90, show_progress=False))
    names = sorted(trained.get_vocab(), key=trained.get_vocab().get)
    scores = [-float(i) for i in range(len(names))]
    if shuffled:
        random.Random(0).shuffle(scores)
    first = FIRST + (RUNS if runs else []) + ADDED
    tokens = [*first, *((name, TokenType.NORMAL) for name in names), ("[PAD0]", TokenType.UNUSED)]
    said = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [name for name, _ in tokens],
        "tokenizer.ggml.token_type": tuple(map(int, (type for _, type in tokens))),
        "tokenizer.ggml.scores": (*[-1000.0] * len(first), *scores, -1000.0),
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.add_space_prefix": space,
    }
    check_tokens(said)
    return said


def encoded(text, said, never_cut):
    """Return ids: of all pairs that make a token, the leftmost of the highest score is merged, as in SentencePiece.

    As in llama.cpp, a space stands before what follows an added token too.
    """
    rows = zip(*(said[f"tokenizer.ggml.{key}"] for key in ("tokens", "token_type", "scores")), strict=True)
    tokens = {name: (id, type, score) for id, (name, type, score) in enumerate(rows)}
    scores = {name: score for name, (_, type, score) in tokens.items() if type == TokenType.NORMAL}
    ids = [1]
    for fragment in re.split("(" + "|".join(map(re.escape, sorted(never_cut, key=len, reverse=True))) + ")", text):
        if fragment in never_cut:
            ids.append(tokens[fragment][0])
            continue
        symbols = list((" " if fragment and said["tokenizer.ggml.add_space_prefix"] else "") + fragment)
        symbols = [symbol.replace(" ", SPACE) for symbol in symbols]
        while pairs := [(-scores[a + b], i) for i, (a, b) in enumerate(pairwise(symbols)) if a + b in scores]:
            _, at = min(pairs)
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        for symbol in symbols:
            bytes_of = [f"<0x{byte:02X}>" for byte in symbol.encode()]
            ids += [tokens[name][0] for name in ([symbol] if symbol in scores else bytes_of)]
    return ids


def texts():
    draw = random.Random(1)
    yield from (TEXT, "the", " the", "", "x  the   river", "ünd\n\n\n<h1> so\u2003on \U0001f600", "<s> the [PAD0]")
    for _ in range(30):
        yield "".join(draw.choices(["the", "river", " ", "t", "h", "e", "r", "\n", "<h1>", "ß", "o"], k=60))


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("space", [False, True])
def test_ids_are_those_of_sentencepiece(space, shuffled):
    said = described(space, shuffled=shuffled)
    tokenizer = gguf_tokenizer(said)
    never_cut = {name for name, _ in ADDED} | {"<s>", "</s>", "<unk>"}
    for text in texts():
        assert tokenizer.encode(text).ids == encoded(text, said, never_cut), text


def test_runs_of_spaces_are_taken_before_words():
    """SentencePiece cuts them off first; only where a text has more in a row than its longest does it cut otherwise."""
    said = described(False, runs=True)
    tokenizer = gguf_tokenizer(said)
    never_cut = {name for name, _ in (*ADDED, *RUNS)} | {"<s>", "</s>", "<unk>"}
    for text in texts():
        if "    " not in text:
            assert tokenizer.encode(text).ids == encoded(text, said, never_cut), text


@pytest.mark.parametrize("architecture", ["llama", "gemma3"])
def test_ids_are_those_of_transformers(architecture):
    """It puts no space before a text that begins with one, and after an added token."""
    said = described(architecture == "llama", runs=architecture == "gemma3")
    keys = {"tokens": "tokens", "scores": "scores", "token_type": "token_type", "model": "tokenizer_type"}
    theirs, _ = convert_gguf_tokenizer(architecture, {to: said[f"tokenizer.ggml.{key}"] for key, to in keys.items()})
    own = gguf_tokenizer(said)
    compared = 0
    for text in texts():
        if architecture == "gemma3" or not (text.startswith(" ") or re.search("[\n<]", text)):
            assert own.encode(text, add_special_tokens=False).ids == theirs.encode(text, add_special_tokens=False).ids
            compared += len(text)
    assert compared > 100


def test_each_token_stands_for_its_text(tmp_path):
    path = tmp_path / "tokenizer.json"
    said = described(runs=True)
    gguf_tokenizer(said).save(str(path))
    vocabulary = vocabulary_of(Tokenizer.from_file(str(path)), path)
    known = dict(zip(vocabulary.ids.tolist(), vocabulary.texts, strict=True))
    for id, (name, type) in enumerate(
        zip(*(said[f"tokenizer.ggml.{key}"] for key in ("tokens", "token_type")), strict=True)
    ):
        if type == TokenType.BYTE:
            assert known[id] == bytes([int(name[3:5], 16)])
        elif type in (TokenType.NORMAL, TokenType.USER_DEFINED):
            assert known[id] == name.replace(SPACE, " ").encode()
        else:
            assert id not in known


def test_its_bytes_can_be_read(tmp_path):
    said = described(False, runs=True)
    gguf_tokenizer(said).save(str(tmp_path / "tokenizer.json"))
    spelling = read_spelling(tmp_path / "tokenizer.json")
    assert spelling.space is SpaceBefore.NEVER
    assert spelling.texts[said["tokenizer.ggml.tokens"].index(f"{SPACE}river")] == b" river"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("scores", (0.0,), "tokenizer.ggml.scores is no list of the scores of"),
        ("scores", float("nan"), "tokenizer.ggml.scores is no list of the scores of"),
        ("unknown_token_id", 1000, "tokenizer.ggml.unknown_token_id is 1000, and there are"),
        ("add_space_prefix", 1, "tokenizer.ggml.add_space_prefix is 1, neither true nor false"),
        ("remove_extra_whitespaces", True, "tokenizer.ggml.remove_extra_whitespaces is True, which is not converted"),
        ("token_type", TokenType.BYTE, "tokenizer.ggml.token_type says that '<unk>' is a byte"),
    ],
)
def test_what_is_refused(key, value, message):
    said = described()
    if key in ("scores", "token_type") and not isinstance(value, tuple):
        value = (value, *said[f"tokenizer.ggml.{key}"][1:])
    with pytest.raises(UserError, match=message):
        check_tokens(said | {f"tokenizer.ggml.{key}": value})
