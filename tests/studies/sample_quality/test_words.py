"""Word metrics by hand: repetition, loops, valid words, word length, and texts without a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.sample_quality.words import (
    WORD_METRICS,
    bigram_repetition,
    decode,
    dictionary,
    ends_in_loop,
    sample_text,
    valid_words,
    word_length,
    word_metrics,
)


@pytest.mark.parametrize(
    ("prompt", "continuation", "text"),
    [
        (b"The quick bro", b"wn fox", "brown fox"),
        (b"The quick ", b"brown fox", "brown fox"),
        (b"The quick\n", b" brown", " brown"),
        (b"The quick", b" brown", "quick brown"),
        (b"", b"brown", "brown"),
        ("a caf\u00e9".encode()[:-1], "\u00e9".encode()[1:] + b" au", "caf\u00e9 au"),  # the cut is inside a character
        ("x\u00a0yes".encode(), b"terday", "yesterday"),  # a no-break space parts words for str.split
        (b"cut \xff", b"\xfe off", " off"),  # what is no UTF-8 is left out
    ],
)
def test_the_word_begun_in_the_prompt_is_part_of_the_sample(prompt, continuation, text):
    assert sample_text(prompt, continuation, completed=True) == text
    assert sample_text(prompt, continuation, completed=False) == continuation.decode(errors="ignore")


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_any_bytes_are_a_sample(prompt, continuation):
    whole = decode(prompt + continuation)
    text = sample_text(prompt, continuation, completed=True)
    assert whole.endswith(text)
    before = whole[: len(whole) - len(text)]
    assert not before or before[-1].isspace() or not text.strip() or len(text) <= len(decode(continuation))
    assert all(value >= 0 for value in word_metrics(prompt, continuation, WORD_METRICS).values())


@given(st.lists(st.sampled_from("abA"), max_size=12))  # case counts
def test_repetition_against_counting_pairs_one_by_one(words):
    pairs = [(words[i], words[i + 1]) for i in range(len(words) - 1)]
    expected = sum(pairs.count(pair) > 1 for pair in pairs) / len(pairs) if pairs else 0
    assert bigram_repetition(words) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("start at the task at the task at the task ", 1),
        ("start at the task at the task at the task at th", 1),  # the cut word does not hide it
        ("start at the task at the task at the ta", 0),  # but two and a half times are not three
        ("at the task at the task at the task and on we go ", 0),  # not at the end
        ("no no no ", 0),  # a phrase has two words
        ("no no no no no no ", 1),
        ("   ", 0),
    ],
)
def test_a_loop_is_a_phrase_three_times_at_the_end(text, loop):
    assert ends_in_loop(text) == loop


def test_words_are_looked_up_in_lower_case_with_their_punctuation_and_measured_in_characters():
    assert valid_words(["The", "house,", "the", "HOUSE"], {"house", "the"}) == pytest.approx(3 / 4)
    assert word_length(["ab", "abcd"]) == 3
    assert word_length(["hé", "€"]) == 1.5  # not bytes


def test_the_dictionary_is_the_thesis_one():
    assert len(dictionary()) == 234_450
    assert {"the", "softmax"} & dictionary() == {"the"}


def test_a_sample_without_words():
    for continuation in (b"", b" \n\t ", b"\xff \xff"):
        assert word_metrics(b"Prompt. ", continuation, WORD_METRICS) == dict.fromkeys(WORD_METRICS, 0)
