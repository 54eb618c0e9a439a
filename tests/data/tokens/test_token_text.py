"""A text in tokens: whole splits for training, and windows of exactly so many tokens of the text where they start."""

import hashlib
from itertools import pairwise
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tokenizers import SPACE, SPLIT, byte_tokens, sentencepiece
from tokenizers import AddedToken, normalizers

from oversmoothing.data.tokens import text as module
from oversmoothing.data.tokens.text import DTYPE, encode, encode_bytes, passages, write_tokens
from oversmoothing.data.tokens.vocabulary import load_tokenizer, vocabulary_of
from oversmoothing.data.windows import SCHEMA, TOKENS, draw_windows
from oversmoothing.jobs import UserError

WORDS = ["the", "water", "of", "river", "flows", "café", "漢字", "past", "houses", "3.14", "read", "and"]


def sentences(count, seed=0):
    """Return a text of sentences, each of which begins with its number."""
    draw = np.random.default_rng(seed)
    return "".join(
        f"{number} {' '.join(draw.choice(WORDS, draw.integers(2, 9)))}.{draw.choice([' ', chr(10), '  '])}"
        for number in range(count)
    )


def as_array(text):
    return np.frombuffer(text.encode(), np.uint8)


@pytest.mark.parametrize("block", [40, 64])
def test_blocks_that_end_with_lines_change_no_token(tokenizers, tmp_path, monkeypatch, block):
    text = "\n".join(" ".join(WORDS[i : i + 3]) for i in range(9)) * 3
    monkeypatch.setattr(module, "BLOCK", block)
    assert len(list(module._blocks(as_array(text)))) > 1
    facts = write_tokens(tmp_path / "blocks.bin", as_array(text), *tokenizers["bpe"])
    tokens, content = encode(*tokenizers["bpe"], text), (tmp_path / "blocks.bin").read_bytes()
    assert np.frombuffer(content, DTYPE).tolist() == tokens.tolist()
    described = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert facts == described | {"tokens": len(tokens), "text_bytes": len(text.encode())}


@settings(max_examples=60)
@given(text=st.text(st.sampled_from("ab é漢\U0001f600\n"), max_size=200), block=st.integers(8, 50))
def test_blocks_of_any_text_hold_all_of_it(text, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        blocks = list(module._blocks(as_array(text)))
    assert "".join(blocks) == text
    assert all(len(part.encode()) <= block for part in blocks)


def opened(folder, tokenizer):
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    tokenizer = load_tokenizer(path)
    return tokenizer, vocabulary_of(tokenizer, path)


MERGES = (("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "Ġ"))
KINDS = {
    "gpt2": lambda: byte_tokens(merges=MERGES),
    "llama 3": lambda: byte_tokens(merges=MERGES, words=SPLIT, ignore_merges=True),
    "qwen": lambda: byte_tokens(merges=MERGES, words=SPLIT, normalizer=normalizers.NFC()),
    "lowercase": lambda: byte_tokens(merges=MERGES, normalizer=normalizers.Lowercase()),
    "compatibility": lambda: byte_tokens(normalizer=normalizers.NFKC()),
    "no carriage return": lambda: byte_tokens(b"\r", merges=MERGES),
    "no lead byte": lambda: byte_tokens(b"\xc3"),
    "added": lambda: byte_tokens(added=[AddedToken("<x>", lstrip=True), AddedToken("|漢|", rstrip=True)]),
    "sentencepiece": sentencepiece,
}
SPARSE = st.text(st.sampled_from("the T\r\n  é漢ﬁ\u0301\u212b<x>|▁\U0001f600\0"), max_size=24)


@pytest.fixture(scope="module", params=KINDS)
def of_kind(request, tmp_path_factory):
    return opened(tmp_path_factory.mktemp("kind"), KINDS[request.param]())


@settings(max_examples=60)
@given(text=SPARSE | st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_tokens_stand_for_the_text_or_are_refused(of_kind, text):
    """Up to a space before it, and to its canonical form."""
    try:
        tokens = encode(*of_kind, text)
    except UserError as error:
        if "byte " not in str(error):
            raise
        return
    read = of_kind[1].decode(tokens.tolist()).decode()
    assert normalize("NFC", text) in {normalize("NFC", read), normalize("NFC", read.removeprefix(" "))}


STRIPS = AddedToken("<x>", lstrip=True, rstrip=True)


@pytest.mark.parametrize(
    ("own", "text", "message"),
    [
        (
            byte_tokens(b"\r"),
            "é\r\nb",
            r"2 on .* reads b'\\nb' for b'\\r\\nb': it has no token for a byte",
        ),
        (byte_tokens(b"AB", normalizer=normalizers.Lowercase()), "b AB", "2 on .* reads b'ab' for b'AB'"),
        (byte_tokens(normalizer=normalizers.NFKC()), "a\uff01", r"1 on .* reads b'!' for b'\\xef\\xbc\\x81'"),
        (byte_tokens(added=[STRIPS]), "a <x> b", "1 on .* reads b'<x>b' for b' <x> b'"),
        (sentencepiece(), f"a{SPACE}b", r"1 on .* reads b' b' for b'\\xe2\\x96\\x81b'"),
    ],
)
def test_a_text_that_the_tokenizer_would_change_is_refused(tmp_path, own, text, message):
    """Nats would be divided by other bytes than its own."""
    with pytest.raises(UserError, match=rf"^t\.txt: from byte {message}"):
        encode(*opened(tmp_path, own), text, "t.txt")


def test_a_byte_that_would_vanish_is_found_in_blocks_and_in_windows_that_hold_it(tmp_path, monkeypatch):
    own, text = opened(tmp_path, byte_tokens(b"\r")), as_array("line 1.\n" * 5 + "café\r\nb")
    monkeypatch.setattr(module, "BLOCK", 16)
    with pytest.raises(UserError, match=r"^the split train: from byte 45 on"):
        write_tokens(tmp_path / "train.bin", text, *own)
    assert not list(tmp_path.glob("*train*"))
    cut = passages(text, *own, 4, 4)
    assert cut(32).end == 40  # what is behind it is not measured
    with pytest.raises(UserError, match=r"^the split evaluation: from byte 45 on"):
        cut(39)


@pytest.mark.parametrize(
    ("special", "message"),
    [
        (True, r"for '\\r' at byte 3 the tokenizer gave the id 255, which is special"),
        (False, "from byte 3 on .* b'<unk>a'"),
    ],
)
def test_a_byte_that_becomes_the_unknown_token_is_refused(tmp_path, special, message):
    own = byte_tokens(b"\r", unknown=["<unk>"], added=[AddedToken("<unk>", special=True)] * special)
    with pytest.raises(UserError, match=rf"^t\.txt: {message}"):
        encode(*opened(tmp_path, own), "aé\ra", "t.txt")


def test_characters_cut_at_either_end_are_left_out(tokenizers):
    own = tokenizers["bytes"]
    assert bytes(encode_bytes(*own, "é漢a".encode()[1:-2]).tolist()) == b""
    assert bytes(encode_bytes(*own, "aé漢".encode()[:-1]).tolist()) == "aé".encode()


def drawn(own, text, count=12, prompt=5, scored=9, seed=3):
    data = as_array(text)
    return draw_windows(data, count, prompt, scored, seed, cut=passages(data, *own, prompt, scored))


@pytest.mark.parametrize("kind", ["bpe", "sentencepiece", "bytes"])
@pytest.mark.parametrize("per_token", [1, 16])
def test_windows_are_what_a_user_would_read_from_the_start_of_a_sentence(tokenizers, monkeypatch, kind, per_token):
    """Whatever was read ahead: `BYTES_PER_TOKEN` only says how much of the text is tokenised at first."""
    monkeypatch.setattr(module, "BYTES_PER_TOKEN", per_token)
    own, text = tokenizers[kind], sentences(400)
    data, table = text.encode(), drawn(own, text)
    assert [field.name for field in table.schema] == [field.name for field in (*SCHEMA, *TOKENS)]
    assert table["window"].to_pylist() == list(range(12))
    taken = []
    for row in table.to_pylist():
        start, tokens = row["offset"], row["prompt_tokens"] + row["scored_tokens"]
        assert (len(row["prompt_tokens"]), len(row["scored_tokens"])) == (5, 9)
        assert tokens == encode(*own, data[start:].decode())[:14].tolist()
        assert row["prompt"] == own[1].decode(row["prompt_tokens"])
        assert row["scored"] == own[1].decode(row["scored_tokens"])
        both = row["prompt"] + row["scored"]
        both = both[1:] if kind == "sentencepiece" else both  # it puts a space before a text
        assert data[start:].startswith(both)
        assert data[:start].rstrip()[-1:] == b"."
        assert data[start : start + 1].isdigit()
        assert data[start - 1 : start].isspace()
        taken.append((start, start + len(both)))
    taken.sort()
    assert all(end <= start for (_, end), (start, _) in pairwise(taken))


def test_a_passage_ends_with_the_text_but_not_beyond(tokenizers):
    data = as_array("One. Three é")

    def ends(scored):
        passage = passages(data, *tokenizers["bytes"], 2, scored)(5)
        return passage and (passage.columns[1], passage.end)

    assert ends(5) == (b"ree \xc3", len(data))  # a character is not shared between two windows
    assert ends(6) == ("ree é".encode(), len(data))
    assert ends(7) is None
