"""What cannot be read byte by byte is refused, in one line that says why."""

import json

import pytest
from families import single_bytes, tokenizer_of
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from oversmoothing.bytewise.next_bytes import next_bytes
from oversmoothing.bytewise.spelling import read_spelling
from oversmoothing.jobs import UserError


def written(tokenizer, folder, **changes):
    """Write a tokenizer, with parts of its file replaced, and return the path."""
    described = json.loads(tokenizer.to_str())
    for place, value in changes.items():
        described[place] = (described[place] | value) if isinstance(described[place], dict) else value
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(described))
    return path


def byte_level(model, **options):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(**({"add_prefix_space": False} | options))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def lacking(*names):
    """Return a tokenizer of single bytes without some of them, given under the names of the alphabet."""
    vocabulary = {name: token for name, token in single_bytes().get_vocab().items() if name not in names}
    return byte_level(models.BPE({name: place for place, name in enumerate(vocabulary)}, []))


def with_part(part, value, family="gpt2"):
    tokenizer = tokenizer_of(family)
    setattr(tokenizer, part, value)
    return tokenizer


REFUSED = {
    "wordpiece": (lambda: byte_level(models.WordPiece({"a": 0, "b": 1}, unk_token="a")), r"WordPiece"),
    "unigram": (lambda: byte_level(models.Unigram([("a", 0.0), ("b", -1.0)])), r"Unigram"),
    "word level": (lambda: byte_level(models.WordLevel({"a": 0}, unk_token="a")), r"WordLevel"),
    "NFKC": (lambda: with_part("normalizer", normalizers.NFKC()), r"NFKC"),
    "lower case": (lambda: with_part("normalizer", normalizers.Lowercase()), r"Lowercase"),
    "prefix": (
        lambda: with_part("pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=True)),
        r"add_prefix_space",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refuses_other_tokenizers(kind, tmp_path):
    make, named = REFUSED[kind]
    path = written(make(), tmp_path)
    with pytest.raises(UserError, match=named) as caught:
        read_spelling(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_refuses_dropout(tmp_path):
    path = written(tokenizer_of("gpt2"), tmp_path, model={"dropout": 0.1})
    with pytest.raises(UserError, match="dropout"):
        read_spelling(path)


def test_names_the_bytes_that_a_vocabulary_lacks(tmp_path):
    """When the file is read, or for a text that has them."""
    path = written(lacking("b", "Ċ"), tmp_path)
    with pytest.raises(UserError) as caught:
        next_bytes(read_spelling(path), None, b"a\nb", 0)
    assert "0x0a" in str(caught.value)
    assert "0x62" in str(caught.value)
    assert "0x61" not in str(caught.value)


@pytest.mark.parametrize("family", ["qwen2", "neox"])
def test_refuses_a_text_that_its_normaliser_would_change(family, tmp_path):
    spelling = read_spelling(written(tokenizer_of(family), tmp_path))
    with pytest.raises(UserError, match="NFC"):
        next_bytes(spelling, None, "cafe\u0301".encode(), 0)


@pytest.mark.parametrize("text", [b"a\x80", b"\xff", b"a\xc3b", b"\xed\xa0\x80"])
def test_refuses_a_text_that_is_no_utf8(text, tmp_path):
    spelling = read_spelling(written(tokenizer_of("gpt2"), tmp_path))
    with pytest.raises(UserError, match="UTF-8"):
        next_bytes(spelling, None, text, 0)
