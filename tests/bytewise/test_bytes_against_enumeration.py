"""Next-byte distributions against their enumeration, with the tokenizer itself as the judge of what can stand."""

from functools import cache

import numpy as np
import pytest
from enumeration import Judge, Model, beginning_with, characters, enumerate_text
from families import ADDED_BEFORE, CONTRACTED, FAMILIES, PIECES, TEXT, token_bytes, tokenizer_of

from oversmoothing.bytewise.next_bytes import next_bytes
from oversmoothing.bytewise.reading import read_spelling

EMOJI = "😀".encode()
TEXTS = {
    "contractions": b"they're IT'S",
    "spaces": b"a   b",
    "line ends": b"x.\r\n\r\n y\n\n\tz",
    "digits": b" 1234567 ,5",
    "code": b"if a:\n    re",
    "emoji": b"ok " + EMOJI * 2 + b".",
    "inside an emoji": b'the "' + EMOJI[:2],
    "chinese": "我们在 we".encode(),
    "accents": "très é n".encode(),
    "apostrophe": b"don' '",
    "unseen words": b"whether, what",
}
CONTRACTIONS = {"contractions": b"I'll we're", "apostrophes": b"we've'RE I'", "capitals": b"we'rE'lL"}
BY_BYTES = {
    "parts of characters": "é très 我们在 ".encode() + "里".encode()[:2],
    "two emoji": "🎉😀 🎉".encode() + EMOJI[:3],
    "added": b"a\n\n\n\n\tb <b>c<b",
    "runs of spaces": b"e   the     12",
}
# The others in `make test-slow`.
ALWAYS = {"spaces", "digits", "inside an emoji", "accents", "unseen words", "capitals", *BY_BYTES}
ALL = [*FAMILIES, *PIECES]
CASES = [(family, "text", name) for family in ALL for name in TEXTS]
CASES += [(family, "text", name) for family in PIECES for name in BY_BYTES]
CASES += [(family, "contracted", name) for family in FAMILIES for name in CONTRACTIONS]
MARKED = [case if case[-1] in ALWAYS else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]


@cache
def judge_of(family, source="text"):
    tokenizer = tokenizer_of(family, {"text": TEXT, "contracted": CONTRACTED}[source])
    return Judge(tokenizer, token_bytes(tokenizer), **ADDED_BEFORE.get(family, {}))


@pytest.fixture(scope="module")
def spelling_of(tmp_path_factory):
    """Read a family's tokenizer.json, once."""

    @cache
    def read(family, source="text"):
        path = tmp_path_factory.mktemp(f"{family}-{source}") / "tokenizer.json"
        judge_of(family, source).tokenizer.save(str(path))
        return read_spelling(path)

    return read


def agree(found, expected, start=0):
    """Compare with what enumeration finds from `start` on."""
    p = expected.probabilities[start:]
    np.testing.assert_allclose(found.probabilities, p, rtol=0, atol=1e-10)
    seen = p > 1e-12
    np.testing.assert_allclose(found.probabilities[seen], p[seen], rtol=1e-8)
    assert (found.probabilities[p == 0] == 0).all()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found.dropped, expected.dropped[start:], rtol=0, atol=1e-10)


def test_the_judge_knows_all_characters_by_each_beginning():
    leads = [bytes([lead]) for lead in range(0x80, 0x100)]
    every = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x110000))]
    assert [character for lead in leads for character in beginning_with(lead)] == every
    for tail in (b"\xe0", b"\xed", b"\xf4", b"\xf0\x90", b"\xf4\x8f"):
        further = [tail + bytes([byte]) for byte in range(256)]
        whole = [character for character in beginning_with(tail) if len(character.encode()) > len(tail) + 1]
        assert [character for longer in further for character in beginning_with(longer)] == whole
        assert all(c.encode().startswith(longer) for longer in further for c in beginning_with(longer))


@pytest.mark.parametrize(("family", "source", "name"), MARKED)
def test_equal_enumeration(family, source, name, spelling_of):
    text = {"text": TEXTS | BY_BYTES, "contracted": CONTRACTIONS}[source][name]
    judge = judge_of(family, source)
    model = Model(len(judge.texts), seed=len(name))
    expected = enumerate_text(judge, model.row, text)
    first = int(family == "mistral" and text.startswith(b" "))  # such a tokenizer drops the space before it adds one
    found = next_bytes(spelling_of(family, source), model.predict, text, first)
    agree(found, expected, first)
    chosen = found.probabilities[np.arange(len(text) - first), list(text[first:])]
    np.testing.assert_allclose(found.losses, -np.log(chosen), rtol=1e-9)
    start = len(text) * 2 // 3
    agree(next_bytes(spelling_of(family, source), model.predict, text, start), expected, start)


@pytest.mark.parametrize("family", [*ALL, "bytes"])
def test_bytes_lose_no_more_than_the_path_of_tokens(family, spelling_of):
    """The encoding of a text is one of its covers."""
    judge = judge_of(family)
    model = Model(len(judge.texts), seed=5)
    text = "They're 12 in the café,\n\n    \"IT'S\" 😀 \r\n" * 3
    tokens = tuple(judge.tokenizer.encode(text, add_special_tokens=False).ids)
    path = sum(model.row(tokens[:place])[token] for place, token in enumerate(tokens))
    found = next_bytes(spelling_of(family), model.predict, text.encode(), 0)
    assert found.losses.sum() <= -path + 1e-9
    assert found.losses.sum() - np.log1p(-found.dropped).sum() <= -path + 1e-9  # P(x), not renormalised


@pytest.mark.parametrize("family", ["llama3", "neox", "gemma"])
def test_the_start_changes_nothing_of_the_rest(family, spelling_of):
    spelling, model = spelling_of(family), Model(len(judge_of(family).texts), seed=7)
    text = "the  café 😀\n\n 123".encode()
    whole = next_bytes(spelling, model.predict, text, 0)
    for start in range(len(text) + 1):
        rest = next_bytes(spelling, model.predict, text, start)
        assert rest.probabilities.shape == (len(text) - start, 256)
        np.testing.assert_allclose(rest.probabilities, whole.probabilities[start:], rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(rest.losses, whole.losses[start:], rtol=1e-12)
        np.testing.assert_allclose(rest.dropped, whole.dropped[start:], rtol=0, atol=1e-12)


def test_a_tokenizer_of_bytes_gives_the_rows_of_the_model(spelling_of):
    """To the bit where the model allows every byte that may follow and no other, in powers of two."""
    text = "a😀é, b".encode()

    class Dyadic(Model):
        def row(self, tokens):
            can = np.array([characters(bytes([*tokens, b])) is not None for b in range(256)])
            draw = np.random.default_rng(list(tokens))
            order = draw.permutation(np.flatnonzero(can))
            p = np.zeros(256)
            p[order] = 2.0 ** -np.minimum(np.arange(1, len(order) + 1), len(order) - 1)
            with np.errstate(divide="ignore"):
                return np.log(p)

    model = Dyadic(256)
    found = next_bytes(spelling_of("bytes"), model.predict, text, 0)
    rows = np.array([np.exp(model.row(tuple(text[:t]))) for t in range(len(text))])
    np.testing.assert_array_equal(found.probabilities, rows)
    np.testing.assert_allclose(found.dropped, 0, atol=1e-15)


def test_ids_beyond_the_vocabulary_are_dropped(spelling_of):
    """Models pad their output layer; such ids have no bytes."""
    judge = judge_of("llama3")
    model = Model(len(judge.texts) + 9, seed=3)
    text = b"the  12"
    agree(next_bytes(spelling_of("llama3"), model.predict, text, 0), enumerate_text(judge, model.row, text))


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
    judge = judge_of(family, "contracted" if b"'" in text else "text")
    found = enumerate_text(judge, Model(len(judge.texts)).row, text).variants[-1]
    assert sorted([judge.texts[u] for u in spelling] for spelling in found) == sorted(variants)
