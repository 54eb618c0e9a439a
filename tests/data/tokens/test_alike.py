"""Tokenizers with one vocabulary that divide texts differently, each refused at the first place."""

import json

import pytest
from small_tokenizers import SPLIT, byte_tokens
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.vocabulary import check_same, load_tokenizer, vocabulary_of
from oversmoothing.jobs import UserError

MERGES = (("t", "h"), ("th", "e"), ("h", "e"), ("Ġ", "the"), ("Ġ", "Ġ"), ("1", "9"), ("q", "z"))


def merging(order):
    """Return the tokenizer with some of the merges, by number, in another order."""
    described = json.loads(byte_tokens(merges=MERGES).to_str())
    described["model"]["merges"] = [described["model"]["merges"][number] for number in order]
    return Tokenizer.from_str(json.dumps(described))


def pre_tokenized(*steps, prefix=False):
    tokenizer = byte_tokens(merges=MERGES)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*steps, pre_tokenizers.ByteLevel(add_prefix_space=prefix)])
    return tokenizer


OTHERS = {
    "reversed merges": (
        merging(range(6, -1, -1)),
        '" they\'re reading" it has id 32 and the other has id 259, with',
    ),
    "other words": (byte_tokens(merges=MERGES, words=SPLIT), "'  Two spaces, no' it has id 260 and the other has id"),
    "single digits": (pre_tokenized(pre_tokenizers.Digits(True)), "'1987 it was 1,23' it has id 49"),
    "a space before": (pre_tokenized(prefix=True), '"The water\'s edge" it has id 32 and the other has id 84'),
    "composed": (byte_tokens(merges=MERGES, normalizer=normalizers.NFC()), "it has id 195 and the other has id 101"),
}


@pytest.fixture
def beside(tmp_path):
    """Check a tokenizer beside that with all merges."""
    byte_tokens(merges=MERGES).save(str(tmp_path / "study.json"))
    study = load_tokenizer(tmp_path / "study.json")

    def check(other, *texts):
        other.save(str(tmp_path / "tokenizer.json"))
        check_same(tmp_path, vocabulary_of(study, "study"), "mine")
        check_alike(study, tmp_path, "mine", texts)

    return check


@pytest.mark.parametrize("other", OTHERS)
def test_another_way_to_divide_texts_is_refused(beside, other):
    tokenizer, place = OTHERS[other]
    with pytest.raises(UserError) as refused:
        beside(tokenizer)
    message = str(refused.value)
    assert message.startswith("mine: its tokenizer is not that of the other model: its tokens are the same, but at ")
    assert place in message


def test_what_the_probe_does_not_show_the_texts_do(beside):
    beside(byte_tokens(merges=MERGES, ignore_merges=True), "the qz")
    other = merging(range(6))
    beside(other, "the z")
    with pytest.raises(UserError, match="at 'qz!' it has id 113 and the other has id 262, with 5 tokens of the"):
        beside(other, "the z", "I qz!")
