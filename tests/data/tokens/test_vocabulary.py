"""The tokens of a tokenizer: without its special ids, numbered from 0, each with the text for which it stands."""

import json

import numpy as np
import pytest
from small_tokenizers import SPACE, byte_alphabet, byte_tokens, sentencepiece
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from oversmoothing.data.tokens.learn import save_tokenizer
from oversmoothing.data.tokens.text import encode
from oversmoothing.data.tokens.vocabulary import (
    Vocabulary,
    check_same,
    first_difference,
    load_tokenizer,
    vocabulary_of,
)
from oversmoothing.jobs import UserError


def opened(path):
    tokenizer = load_tokenizer(path)
    return tokenizer, vocabulary_of(tokenizer, path)


def saved(tmp_path, own):
    own.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def words(decoder=None, special=("<s>",)):
    """Return a tokenizer of whole words."""
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer.decoder = decoder or decoders.ByteLevel()
    tokenizer.add_special_tokens(list(special))
    return tokenizer


@pytest.mark.parametrize(
    ("kind", "size", "special"), [("bpe", 299, {0, 1}), ("sentencepiece", None, {0, 1, 2}), ("bytes", 256, {256})]
)
def test_special_ids_are_no_tokens_and_the_rest_is_numbered_in_order(kinds, kind, size, special):
    tokenizer, vocabulary = opened(kinds[kind])
    every = tokenizer.get_vocab_size()
    assert set(range(every)) - set(vocabulary.ids.tolist()) == special
    assert len(vocabulary) == len(vocabulary.texts) == every - len(special) == (size or every - len(special))
    assert (np.diff(vocabulary.ids) > 0).all()
    assert vocabulary.tokens(vocabulary.ids).tolist() == list(range(len(vocabulary)))


def texts_by_name(tokenizer, vocabulary):
    texts = dict(zip(vocabulary.ids.tolist(), vocabulary.texts, strict=True))
    return {name: texts.get(id) for name, id in tokenizer.get_vocab(with_added_tokens=True).items()}


def test_the_text_of_each_token_by_hand(kinds):
    _, own = opened(kinds["bytes"])
    assert list(own.texts) == [bytes([byte]) for byte in range(256)]
    expected = {"<0x0A>": b"\n", "<0xC3>": b"\xc3", "A": b"A", SPACE: b" ", f"{SPACE}water": b" water"}
    expected[f"{SPACE}the{SPACE}water"] = b" the water"
    texts = texts_by_name(*opened(kinds["sentencepiece"]))
    assert {name: texts[name] for name in expected} == expected
    texts = texts_by_name(*opened(kinds["bpe"]))
    assert texts["    "] == b"    "  # added, but not special
    assert texts[byte_alphabet()[0xC3]] == b"\xc3"
    assert b" the" in texts.values()


def test_added_runs_of_the_sign_of_a_space_stand_for_spaces(tmp_path):
    """As Gemma's do, which its model makes of spaces too; in a byte-level vocabulary they stand for themselves."""
    run, other = AddedToken(SPACE * 2, normalized=False), AddedToken(f"<|{SPACE}x|>")
    own = sentencepiece([" "])
    own.add_tokens([run, other])
    tokenizer, vocabulary = opened(saved(tmp_path, own))
    assert (
        encode(tokenizer, vocabulary, "a  b").tolist()
        == vocabulary.tokens([tokenizer.token_to_id(name) for name in (SPACE, "a", SPACE * 2, "b")]).tolist()
    )
    assert vocabulary.decode(encode(tokenizer, vocabulary, "a  b").tolist()) == b" a  b"
    _, of_bytes = opened(saved(tmp_path, byte_tokens(added=[run, other])))
    assert list(of_bytes.texts[-2:]) == [(SPACE * 2).encode(), f"<|{SPACE}x|>".encode()]


def test_a_token_outside_the_byte_alphabet_is_named(tmp_path):
    own = byte_tokens(unknown=["<\uff5cx>"])
    message = (
        r"tokenizer\.json: its token '<\uff5cx>', id 256, has the character '\uff5c', which stands for no byte; name"
    )
    with pytest.raises(UserError, match=message):
        opened(saved(tmp_path, own))
    own.add_tokens([AddedToken("<\uff5cx>")])
    assert opened(saved(tmp_path, own))[1].texts[-1] == "<\uff5cx>".encode()


@pytest.mark.parametrize(("kind", "name"), [("bpe", "<s>"), ("sentencepiece", "</s>"), ("bytes", "<|endoftext|>")])
def test_the_name_of_a_special_id_in_a_text_is_text(kinds, kind, name):
    tokenizer, own = opened(kinds[kind])
    tokens = encode(tokenizer, own, f"a{name}b")
    assert own.decode(tokens.tolist()).strip() == f"a{name}b".encode()
    assert len(tokens) > 4
    plain = Tokenizer.from_file(str(kinds[kind]))  # as transformers reads it
    with pytest.raises(UserError, match=r"the id \d+, which is special or unknown"):
        own.tokens(plain.encode(f"a{name}b").ids)


def test_a_stored_limit_or_padding_is_not_applied(kinds, tmp_path):
    own = Tokenizer.from_file(str(kinds["bpe"]))
    own.enable_truncation(4)
    own.enable_padding(length=50, pad_token="<s>")
    tokenizer, vocabulary = opened(saved(tmp_path, own))
    assert vocabulary.decode(encode(tokenizer, vocabulary, "x" * 9).tolist()) == b"x" * 9


def test_an_id_that_is_no_token_is_named():
    own = Vocabulary(np.array([0, 2, 299, 302], np.int32), [b"a", b"b", b"c", b"d"])
    assert own.tokens([302, 0, 2]).tolist() == [3, 0, 1]
    for wrong in (300, 10**6):
        with pytest.raises(UserError, match=f"the tokenizer gave the id {wrong}, which is special or unknown"):
            own.tokens([0, wrong])


def test_the_first_difference_is_told():
    one = Vocabulary(np.array([0, 1, 3], np.int32), [b"a", b"b", b"c"])
    text = Vocabulary(np.array([0, 1, 4], np.int32), [b"a", b"x", b"c"])
    short = Vocabulary(one.ids[:2], one.texts[:2])
    for other, difference in (
        (text, "of token 1, id 1 is b'b' in one and id 1 is b'x' in the other"),
        (short, "of token 2, id 3 is b'c' in one and it has no further token in the other"),
    ):
        assert first_difference(one, other) == difference


def test_another_tokenizer_of_a_model_is_refused(kinds, tmp_path):
    _, own = opened(kinds["bytes"])
    saved(tmp_path, byte_tokens())
    check_same(tmp_path, own, "mine")
    other = byte_tokens()
    other.add_tokens([AddedToken("water")])
    saved(tmp_path, other)
    message = "mine: its tokenizer is not that of the other model: of token 256, it has no further token"
    with pytest.raises(UserError, match=message):
        check_same(tmp_path, own, "mine")
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"mine: .* has no tokenizer\.json; load its tokenizer with"):
        check_same(tmp_path, own, "mine")


def test_files_that_are_no_tokenizer_are_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.json: no such file; a tokenizer in the fast format is needed"):
        load_tokenizer(tmp_path / "none.json")
    (tmp_path / "cut.json").write_text(byte_tokens().to_str()[:-100])
    with pytest.raises(UserError, match=r"cut\.json: not a complete tokenizer"):
        load_tokenizer(tmp_path / "cut.json")


def test_a_tokenizer_that_changed_since_it_was_written_is_named(tmp_path):
    path = tmp_path / "tokenizer.json"
    save_tokenizer(path, byte_tokens())
    text = path.read_text()
    assert vocabulary_of(load_tokenizer(path), path)
    path.write_text(text.replace('"a":', '"~~":', 1))
    with pytest.raises(UserError, match=r"tokenizer\.json: does not match its checksum"):
        load_tokenizer(path)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (words(decoders.WordPiece()), "its decoder is neither byte-level nor SentencePiece's with bytes"),
        (words(special=["<s>", "a", "b"]), "it has no token but special ones"),
    ],
)
def test_a_tokenizer_without_texts_or_tokens_is_refused(tmp_path, own, message):
    with pytest.raises(UserError, match=message):
        opened(saved(tmp_path, own))


@pytest.mark.parametrize(
    ("id", "message"),
    [
        (1, "'b' and 'c' have one id, 1"),
        (1 << 24, "'c' has the id 16,777,216; ids from 16,777,216 on"),
    ],
)
def test_an_id_of_two_tokens_or_that_no_head_has_a_row_for_is_named(tmp_path, id, message):
    described = json.loads(words().to_str())
    described["model"]["vocab"]["c"] = id
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    with pytest.raises(UserError, match=rf"tokenizer\.json: {message}"):
        opened(tmp_path / "tokenizer.json")


def test_byte_level_encoding_without_a_decoder_is_told_by_its_pre_tokenizer(tmp_path):
    own = byte_tokens()
    own.decoder = None
    assert "ByteLevel" in json.dumps(json.loads(own.to_str())["pre_tokenizer"])
    _, vocabulary = opened(saved(tmp_path, own))
    assert list(vocabulary.texts) == [bytes([byte]) for byte in range(256)]
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(UserError, match="its decoder is neither"):
        opened(saved(tmp_path, own))
