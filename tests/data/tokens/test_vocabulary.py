"""The tokens of a tokenizer: without its special ids, numbered from 0, each with the text for which it stands."""

import json

import numpy as np
import pytest
from small_tokenizers import SPACE, byte_alphabet, byte_tokens, sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from oversmoothing.data.tokens import limits
from oversmoothing.data.tokens.learn import save_tokenizer
from oversmoothing.data.tokens.text import encode
from oversmoothing.data.tokens.vocabulary import (
    Vocabulary,
    check_same,
    first_difference,
    load_tokenizer,
    make_certain,
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


MERGED = [("a", "b"), ("ab", "c"), ("abc", "d")]


@pytest.mark.parametrize(
    ("model", "count", "off"),
    [
        (models.BPE(byte_tokens(merges=MERGED).get_vocab(), MERGED, dropout=0.5), 40, "its `dropout: 0.5` makes"),
        (models.Unigram([("u", -9.0), ("a", -1.0), ("b", -1.0), ("ab", -1.5)], 0, False), 60, "its `alpha: 0.1` makes"),
    ],
    ids=["dropout", "sampling"],
)
def test_chance_in_encodings_is_switched_off_and_told_once(tmp_path, caplog, model, count, off):
    """It made a model of 1.3 nats per byte one of 2.8, or of 3.4."""
    own = Tokenizer(model)
    if isinstance(model, models.Unigram):
        model.alpha, model.nbest_size = 0.1, 8  # which no file holds yet
        make_certain(own, tmp_path)
    else:
        own.pre_tokenizer, own.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        own = [load_tokenizer(saved(tmp_path, own)) for _ in range(2)][-1]
    text = "abcdab" * 20
    assert {tuple(own.encode(text).ids) for _ in range(20)} == {tuple(own.encode(text).ids)}
    assert len(own.encode(text).ids) == count
    assert caplog.text.count(off) == 1


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


@pytest.mark.parametrize("special", [(True, False), (False, True)])
def test_a_token_that_one_tokenizer_marks_as_special_is_named_with_its_flag(tmp_path, special):
    folders = [tmp_path / str(side) for side in range(2)]
    for folder, flag in zip(folders, special, strict=True):
        folder.mkdir()
        own = byte_tokens()
        own.add_tokens([AddedToken("<tool_call>", special=flag), AddedToken("<tool>")])
        saved(folder, own)
    one, other = (opened(folder / "tokenizer.json")[1] for folder in folders)
    here, there = ("special", "a token") if special[0] else ("a token", "special")
    difference = (
        f"id 257, '<tool_call>', is {here} in one and {there} in the other, by `special` among the `added_tokens` of "
        "tokenizer.json; write one value into a copy of a model's folder"
    )
    assert first_difference(one, other) == difference
    with pytest.raises(UserError, match=r"mine: its tokenizer is not .*: id 257, '<tool_call>', is "):
        check_same(folders[1], one, "mine")
    path = folders[1] / "tokenizer.json"  # the advice
    described = json.loads(path.read_text())
    for token in described["added_tokens"]:
        token["special"] = special[0] if token["content"] == "<tool_call>" else token["content"] == "<|endoftext|>"
    path.write_text(json.dumps(described))
    check_same(folders[1], one, "mine")


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


SLOW = {"Regex": "(x+x+)+y"}
SPLIT = {"type": "Split", "pattern": SLOW, "behavior": "Isolated", "invert": False}
MANY = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 999}
HOSTILE = {
    "id": ({"model": {"vocab": {"a": 0, "b": 4 * 10**9}}}, "'b' has the id 4,000,000,000; ids from"),
    "split": ({"pre_tokenizer": SPLIT}, "it cannot read a run of 'x'"),
    "replace": ({"normalizer": {"type": "Replace", "pattern": SLOW, "content": ""}}, "it cannot read a run of 'x'"),
    "table": ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}, "not a complete tokenizer"),
    "growth": ({"normalizer": {"type": "Sequence", "normalizers": [MANY] * 4}}, "takes over 0.5 GB of memory, or"),
    "nesting": ({"decoder": {"type": "Sequence", "decoders": [[[[]]]]}}, "not a complete tokenizer"),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_what_a_file_does_to_the_process_that_builds_it_is_one_line(tmp_path, monkeypatch, capfd, fault):
    """It ended in a SIGABRT or a traceback, or took all memory."""
    monkeypatch.setattr(limits, "MEMORY", 1 << 29)
    changes, message = HOSTILE[fault]
    described = json.loads(byte_tokens().to_str())
    for part, change in changes.items():
        described[part] = {**(described[part] or {}), **change}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(described))
    with pytest.raises(UserError, match=rf"tokenizer\.json: .*{message}") as caught:
        load_tokenizer(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("; take the file from the model's publisher, or another model")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("run", "count", "message"), [(40, 1, "cannot read it"), (21, 400, r"took over 1 s; an expr")])
def test_a_text_that_a_tokenizer_cannot_read_is_one_line(monkeypatch, capfd, run, count, message):
    monkeypatch.setattr(limits, "SECONDS", 1)
    monkeypatch.setattr(limits, "PACE", 10**6)
    tokenizer = byte_tokens()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(SLOW["Regex"]), "isolated")
    with pytest.raises(UserError, match=f"mine: its tokenizer {message}") as caught:
        limits.encoded(tokenizer, ("x" * run + "a ") * count, "mine")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_file_is_tried_once_for_each_content(tmp_path, monkeypatch):
    ran, run = [], limits.subprocess.run
    monkeypatch.setattr(limits.subprocess, "run", lambda *given, **more: ran.append(given) or run(*given, **more))
    for own in (byte_tokens(), byte_tokens(), byte_tokens(lacking=b"b")):
        load_tokenizer(saved(tmp_path, own))
    assert len(ran) == 2


def test_byte_level_encoding_without_a_decoder_is_told_by_its_pre_tokenizer(tmp_path):
    own = byte_tokens()
    own.decoder = None
    assert "ByteLevel" in json.dumps(json.loads(own.to_str())["pre_tokenizer"])
    _, vocabulary = opened(saved(tmp_path, own))
    assert list(vocabulary.texts) == [bytes([byte]) for byte in range(256)]
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(UserError, match="its decoder is neither"):
        opened(saved(tmp_path, own))
