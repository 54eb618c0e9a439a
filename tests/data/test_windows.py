"""Evaluation windows: at starts of sentences, or else of lines or characters, apart, the same for the same seed."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.data.windows import (
    CHARACTER,
    LINE,
    SCHEMA,
    SENTENCE,
    SENTENCE_OF_ANY_SCRIPT,
    STARTED,
    STARTS,
    draw_windows,
)
from oversmoothing.jobs import UserError

SENTENCES = st.lists(
    st.text("ab é\n.!?", min_size=1, max_size=12) | st.sampled_from(["A b. ", "C?\n\n", "3.14 ", "e.g.x ", "!  "]),
    min_size=30,
    max_size=120,
).map("".join)
TEXT = "".join(f"Sentence number {number} is here. " for number in range(2000)).encode()


def as_array(data):
    return np.frombuffer(data, dtype=np.uint8)


@settings(max_examples=150)
@given(SENTENCES, st.integers(1, 5), st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_windows_of_any_text(text, count, prompt, scored, seed):
    data = text.encode()
    try:
        table = draw_windows(as_array(data), count, prompt, scored, seed, starts=[SENTENCE])
    except UserError:
        # Refused only where nothing more fits; a placed window takes the room of at most two others.
        fitting, free = 0, 0
        for match in re.finditer(rb"[.!?]\s+(?=\S)", data):
            if free <= match.end() <= len(data) - prompt - scored:
                fitting, free = fitting + 1, match.end() + prompt + scored
        assert fitting < 2 * count
        return
    assert table.schema.equals(SCHEMA)
    assert table["window"].to_pylist() == list(range(count))
    offsets = table["offset"].to_pylist()
    for offset, start, rest in zip(offsets, table["prompt"].to_pylist(), table["scored"].to_pylist(), strict=True):
        assert start == data[offset : offset + prompt]
        assert rest == data[offset + prompt : offset + prompt + scored]
        assert (len(start), len(rest)) == (prompt, scored)
        assert not data[offset : offset + 1].isspace()
        assert data[offset - 1 : offset].isspace()
        assert data[:offset].rstrip()[-1:] in (b".", b"!", b"?")
    assert all(b - a >= prompt + scored for a, b in pairwise(sorted(offsets)))
    assert draw_windows(as_array(data), count, prompt, scored, seed).equals(table)


def test_windows_of_english_are_those_of_earlier_versions():
    assert drawn(TEXT, 6, 20, 80, seed=1) == (SENTENCE, [27846, 30120, 44400, 55890, 2062, 8503])
    kind, offsets = drawn(b"A. " * 100, 33, 1, 3)
    assert (kind, offsets[:12]) == (SENTENCE, [255, 192, 153, 84, 93, 15, 24, 6, 54, 243, 273, 183])


def drawn(data, *numbers, seed=0):
    """Return the kind of start and the offsets of windows."""
    table = draw_windows(as_array(data), *numbers, seed)
    return table.schema.metadata[STARTED].decode(), table["offset"].to_pylist()


@pytest.mark.parametrize(
    ("text", "kind", "begin"),
    [
        ("这是一个句子，它很长。他说：“走吧！”　然后走了？", SENTENCE_OF_ANY_SCRIPT, "这他然"),  # noqa: RUF001
        ("यह एक वाक्य है। और यह दूसरा है॥ ", SENTENCE_OF_ANY_SCRIPT, "यऔ"),
        ("هل هذا سؤال؟ نعم۔ ", SENTENCE_OF_ANY_SCRIPT, "هن"),  # noqa: RUF001
        ("So it goes… and on… And on!", SENTENCE_OF_ANY_SCRIPT, "aA"),  # after ! there is no white space
        ("for i in x:\n    y = i\n", LINE, "fy"),
        ("anna: hi\n\nbob: hello\n", LINE, "ab"),
        ("ACGTTGCA", CHARACTER, "ACGT"),
        ("สวัสดีครับ", CHARACTER, "สวัสดีครับ"),
    ],
)
def test_texts_without_ends_of_sentences_as_in_english(text, kind, begin, caplog):
    data = (text * 200).encode()
    found, offsets = drawn(data, 40, 5, 10)
    assert found == kind
    assert {data[offset:].decode()[0] for offset in offsets} <= set(begin)
    assert np.diff(sorted(offsets)).min() >= 15
    assert caplog.messages[0].endswith(" of 40 windows can start with a sentence")
    assert drawn(data, 10, 5, 10) == (kind, offsets[:10])


def test_a_sentence_ends_with_any_mark_of_unicode_and_one_alone():
    for mark in "؟۔።។。！？｡":  # noqa: RUF001
        ends = [match.end() for match in STARTS[SENTENCE_OF_ANY_SCRIPT].finditer(f"a{mark}b".encode())]
        assert ends == [1 + len(mark.encode())]
    assert not STARTS[SENTENCE_OF_ANY_SCRIPT].search("3.14, a?b、c，d".encode())  # noqa: RUF001


@given(st.text("aé漢😀", min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 99))
def test_windows_of_a_text_without_any_marks_fill_it_with_whole_characters(text, count, seed):
    data, refused = text.encode(), False
    try:
        _, offsets = drawn(data, count, 1, 3, seed=seed)
    except UserError as error:
        most, fit = re.search(r"\((at most )?(\d+) fit", str(error)).groups()
        refused = True
    if refused:
        assert len(data) - 8 < 7 * count  # a placed window takes the room of at most two others
        assert int(fit) < count
        assert most or fit == "0" or len(drawn(data, int(fit), 1, 3, seed=seed)[1]) == int(fit)
        return
    assert all(data[offset:].decode() for offset in offsets)
    assert all(b - a >= 4 for a, b in pairwise(sorted(offsets)))


def test_seeds_differ_and_more_windows_keep_the_first():
    few = drawn(TEXT, 10, 20, 80, seed=1)[1]
    assert drawn(TEXT, 50, 20, 80, seed=1)[1][:10] == few
    assert drawn(TEXT, 10, 20, 80, seed=2)[1] != few


def test_a_window_may_end_with_the_corpus_but_not_beyond():
    data = b"One. " + b"x" * 100
    assert drawn(data, 1, 20, 80) == (SENTENCE, [5])
    assert drawn(data[:-1], 1, 20, 80)[0] == CHARACTER
    with pytest.raises(UserError, match="too short"):
        drawn(data[6:], 1, 20, 80)


@pytest.mark.parametrize(
    ("data", "fit"),
    [
        (b"Too short. For it.", "at most 0 fit"),
        (b"No end " * 45, "2 fit, each at the start of a character"),
        (b"A. " + b"b" * 97 + b"A. " + b"b" * 197, "2 fit, each at the start of a sentence"),
    ],
)
def test_a_corpus_without_room_is_refused(data, fit):
    message = rf"split of {len(data):,} bytes is too short for 3 windows of 100 bytes .*\({fit}\): lower windows.count"
    with pytest.raises(UserError, match=message):
        draw_windows(as_array(data), 3, 20, 80, seed=0)
