"""The enumeration that byte views are held against: by the definition, and whatever continuations it tries."""

import numpy as np
import pytest
from enumeration import (
    BEHIND,
    CONTRACTIONS,
    FIRST,
    LETTERS,
    OTHERS,
    Judge,
    Model,
    characters,
    continuations,
    enumerate_text,
    prefix_probability,
)
from families import CONTRACTED, FAMILIES, TEXT, token_bytes, tokenizer_of


def judge_of(family, text=TEXT, **options):
    tokenizer = tokenizer_of(family, text)
    return Judge(tokenizer, token_bytes(tokenizer), **options)


@pytest.mark.parametrize(("family", "text"), [("gpt2", "a\n\nb"), ("llama3", "é 1"), ("o200k", "he's")])
def test_is_the_ratio_of_two_sums_over_covers(family, text):
    judge = judge_of(family)
    model, text = Model(len(judge.texts)), text.encode()
    found = enumerate_text(judge, model.row, text)
    prefixes = [prefix_probability(judge, model.row, text[:t]) for t in range(1, len(text) + 1)]
    np.testing.assert_allclose(np.exp(found.log_prefix), [1, *prefixes], rtol=1e-12)
    before = text[:-1]
    joint = np.array([prefix_probability(judge, model.row, before + bytes([b])) for b in range(256)])
    np.testing.assert_allclose(found.probabilities[-1], joint / joint.sum(), rtol=1e-11)
    assert found.dropped[-1] == pytest.approx(1 - joint.sum() / prefixes[-2], abs=1e-12)


def test_the_next_tokens_of_a_tokenizer_of_bytes_are_the_next_bytes():
    """All that is dropped are bytes that no text has at that place."""
    judge = judge_of("bytes")
    model = Model(256)
    text = "a\N{GRINNING FACE}é".encode()
    found = enumerate_text(judge, model.row, text)
    for t in range(len(text)):
        row = np.exp(model.row(tuple(text[:t])))
        can = np.array([characters(text[:t] + bytes([b])) is not None for b in range(256)])
        np.testing.assert_allclose(found.probabilities[t], row * can / row[can].sum(), rtol=1e-13)
        assert found.dropped[t] == pytest.approx(row[~can].sum(), abs=1e-14)


@pytest.mark.parametrize(
    ("family", "text", "variants"),
    [
        ("gpt2", "a\n\n", [[b"a", b"\n\n"], [b"a", b"\n", b"\n"]]),
        ("llama3", "  ", [[b"  "], [b" ", b" "]]),
        ("o200k", "we'", [[b"we'"], [b"w", b"e", b"'"]]),
        ("llama3", "we'r", [[b"we", b"'r"]]),  # before a capital E alone
        ("gpt2", "we'r", [[b"we", b"'", b"r"]]),
        ("neox", "a  ", [[b"a", b"  "]]),
        ("gpt2", b". \xf0\x9f", [[b".", b" \xf0\x9f"]]),
        ("llama3", b". \xf0\x9f", [[b".", b" \xf0\x9f"], [b".", b" ", b"\xf0\x9f"]]),  # before a digit of four bytes
    ],
)
def test_finds_the_spellings_of_a_text_by_hand(family, text, variants):
    text = text if isinstance(text, bytes) else text.encode()
    judge = judge_of(family, CONTRACTED if b"'" in text else TEXT)
    found = enumerate_text(judge, Model(len(judge.texts)).row, text).variants[-1]
    assert sorted([judge.texts[u] for u in spelling] for spelling in found) == sorted(variants)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["we'", "a \n", "12", " é"])
def test_more_continuations_change_no_verdict(family, text):
    """All pairs of all characters, and triples of many more, let no further sequence stand."""
    few = judge_of(family, CONTRACTED if "'" in text else TEXT)
    more = continuations(FIRST, LETTERS + OTHERS, BEHIND + "l,")
    assert set(few.continuations) < set(more)
    assert set(CONTRACTIONS) < set(more)
    many = Judge(few.tokenizer, few.texts, more)
    for length in range(len(text) + 1):
        spelling = tuple(few.tokenizer.encode(text[:length]).ids)
        assert few.followers(spelling) == many.followers(spelling)
