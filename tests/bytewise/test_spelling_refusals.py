"""What cannot be read byte by byte is refused, in one line that says why."""

import json

import pytest
from families import tokenizer_of
from small_tokenizers import SPACE, byte_tokens
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from oversmoothing.bytewise.next_bytes import next_bytes
from oversmoothing.bytewise.reading import read_spelling
from oversmoothing.jobs import UserError


def written(tokenizer, folder):
    """Write a tokenizer and return the path."""
    path = folder / "tokenizer.json"
    path.write_text(tokenizer.to_str())
    return path


def byte_level(model):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def with_part(part, value, family="gpt2"):
    tokenizer = tokenizer_of(family)
    setattr(tokenizer, part, value)
    return tokenizer


def with_added(family, token):
    tokenizer = tokenizer_of(family)
    tokenizer.add_tokens([AddedToken(token, special=False)])
    return tokenizer


def with_model(change):
    """Return a tokenizer over characters whose model is changed in place."""
    described = json.loads(tokenizer_of("llama2").to_str())
    change(described["model"])
    return Tokenizer.from_str(json.dumps(described))


def merge_bytes(model):
    model["vocab"]["<0x0A><0x0A>"] = len(model["vocab"])
    model["merges"].append(["<0x0A>", "<0x0A>"])


REFUSED = {
    "wordpiece": (lambda: byte_level(models.WordPiece({"a": 0, "b": 1}, unk_token="a")), r"WordPiece"),
    "endings": (
        lambda: byte_level(models.BPE({"a": 0, "b/": 1}, [], end_of_word_suffix="/")),
        r"its end_of_word_suffix is '/'",
    ),
    "NFKC": (lambda: with_part("normalizer", normalizers.NFKC()), r"NFKC"),
    "split at spaces": (
        lambda: with_part("pre_tokenizer", pre_tokenizers.Metaspace(split=True), "mistral"),
        r"Metaspace, which cuts at spaces",
    ),
    "NFKC before pieces": (lambda: with_part("normalizer", normalizers.NFKC(), "mistral"), r"NFKC"),
    "spaces as they are": (lambda: with_part("normalizer", None, "llama2"), r"leaves spaces"),
    "another pre-tokenizer": (lambda: with_part("pre_tokenizer", pre_tokenizers.Whitespace(), "gemma"), r"Whitespace"),
    "another sign": (lambda: with_part("normalizer", normalizers.Prepend("_"), "llama2"), r"Prepend"),
    "spaces around added tokens": (lambda: with_added("llama2", "<b>"), r"spaces around its added token '<b>'"),
    "byte tokens lack": (lambda: with_model(lambda model: model["vocab"].pop("<0x0A>")), r"lacks bytes \(0x0a\)"),
    "merged bytes": (lambda: with_model(merge_bytes), r"a merge joins bytes"),
    "whole words": (lambda: with_model(lambda model: model.update(ignore_merges=True)), r"ignore_merges"),
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


def test_reads_a_tokenizer_without_its_dropout(tmp_path):
    own = byte_level(models.BPE(byte_tokens(merges=[("a", "b")]).get_vocab(), [("a", "b")], dropout=0.1))
    assert read_spelling(written(own, tmp_path)).merges.encode(b"ab") == [256]


def test_names_the_bytes_that_a_vocabulary_lacks(tmp_path):
    """When the file is read, or for a text that has them."""
    path = written(byte_tokens(lacking=b"b\n"), tmp_path)
    with pytest.raises(UserError) as caught:
        next_bytes(read_spelling(path), None, b"a\nb", 0)
    assert "0x0a" in str(caught.value)
    assert "0x62" in str(caught.value)
    assert "0x61" not in str(caught.value)


@pytest.mark.parametrize(
    ("family", "text", "why"),
    [
        ("qwen2", "cafe\u0301".encode(), "not in NFC"),
        *(("gpt2", text, "no UTF-8") for text in (b"a\x80", b"\xff", b"a\xc3b", b"\xed\xa0\x80")),
        ("llama2", f"a{SPACE}b".encode(), f"has the character {SPACE}"),
        ("mistral", b" a", "drops a space at the beginning of a text; start behind it"),
    ],
)
def test_refuses_texts_that_a_tokenizer_does_not_read_as_they_are(family, text, why, tmp_path):
    spelling = read_spelling(written(tokenizer_of(family), tmp_path))
    with pytest.raises(UserError, match=why):
        next_bytes(spelling, None, text, 0)
