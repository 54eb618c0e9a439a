"""Which pairs of tokens may stand side by side, by their merges, against encoding every pair."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_tokenizers import byte_alphabet
from tokenizers import Tokenizer, models

from oversmoothing.bytewise.merges import Merges

NAMES = byte_alphabet()
CODES = {name: byte for byte, name in enumerate(NAMES)}


def agree(names, pairs):
    """Compare all pairs of a BPE without pre-tokenizer, given its names by id and its merges as pairs of names.

    Bytes are read under their names, so that those that are no UTF-8 can be encoded too.
    """
    ids = {name: token for token, name in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(ids, pairs))
    texts = [bytes(CODES[character] for character in name) for name in names]
    merges = Merges(texts, [(ids[left], ids[right], ids[left + right]) for left, right in pairs])
    alone = [tokenizer.encode(name).ids == [token] for token, name in enumerate(names)]
    np.testing.assert_array_equal(merges.reachable, alone)
    for a, first in enumerate(names):
        encoded = tokenizer.encode_batch_fast([first + second for second in names])
        expected = np.array([found.ids == [a, b] for b, found in enumerate(encoded)])
        follow = merges.may_follow(a) & merges.reachable & merges.reachable[a]
        wrong = np.flatnonzero(follow != expected)
        assert not len(wrong), (
            f"{first!r} {names[wrong[0]]!r}: {follow[wrong[0]]}, encoded {expected[wrong[0]]}; {pairs}"
        )
    for text in ("abcabcaabbcc", "aaaaaaa", "cabbage" * 3):
        assert list(merges.encode(text.encode())) == tokenizer.encode(text).ids


@st.composite
def merge_lists(draw, letters="abc", most=40):
    """Draw names and merges of tokens made before, as training makes them; a token may be made in two ways."""
    names, pairs = list(letters), []
    for _ in range(draw(st.integers(1, most))):
        left, right = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        if (left, right) in pairs or len(left + right) > 12:
            continue
        pairs.append((left, right))
        if left + right not in names:
            names.append(left + right)
    return [*names, *(name for name in "geABC" if name not in names)], pairs


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(merge_lists())
def test_pairs_of_drawn_merges(drawn):
    agree(*drawn)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(merge_lists(letters="a", most=12))
def test_pairs_of_runs_of_one_letter(drawn):
    """ "aaa" is merged from the left."""
    names, pairs = drawn
    agree([*names, *(name for name in "bc" if name not in names)], pairs)


def test_every_split_of_a_token_as_a_merge():
    """As in tokenizers converted from tiktoken, which rank texts and not pairs."""
    names = [*"abcge", "ab", "bc", "abc", "aa", "aab", "aabc"]
    pairs = [(name[:cut], name[cut:]) for name in names for cut in range(1, len(name))]
    agree(names, [pair for pair in pairs if set(pair) <= set(names)])


def test_a_merge_that_waits_for_one_of_higher_rank():
    """Of two that wait for the same, the lower rank is the first: "aaaa" "aaaaa"."""
    pairs = [("a", "a"), ("a", "aa"), ("a", "aaa"), ("aaaa", "a"), ("aaaa", "aaaa"), ("aa", "aa")]
    names = ["a", "aa", "aaa", "aaaa", "aaaaa", "aaaaaaaa", *"bcge"]
    agree(names, pairs)
