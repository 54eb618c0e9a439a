"""Evaluation windows: at starts of sentences, apart from each other, the same for the same seed."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.data import windows
from oversmoothing.data.windows import SCHEMA, draw_windows
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
        table = draw_windows(as_array(data), count, prompt, scored, seed)
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


def test_seeds_differ_and_more_windows_keep_the_first(tmp_path):
    (tmp_path / "evaluation.bin").write_bytes(TEXT)
    data = np.memmap(tmp_path / "evaluation.bin", dtype=np.uint8, mode="r")
    few = draw_windows(as_array(TEXT), 10, 20, 80, seed=1)
    assert draw_windows(data, 50, 20, 80, seed=1).slice(0, 10).equals(few)
    assert not draw_windows(data, 10, 20, 80, seed=2).equals(few)


def test_windows_spread_over_the_corpus():
    offsets = np.array(draw_windows(as_array(TEXT), 100, 20, 80, seed=0)["offset"].to_pylist())
    quarters = np.bincount(offsets * 4 // len(TEXT), minlength=4)
    assert quarters.min() >= 10


def test_a_crowded_corpus_is_filled_without_overlap():
    data = b"A. " * 100  # a sentence every 3 bytes; windows of 4 bytes fit on every second one
    offsets = draw_windows(as_array(data), 33, 1, 3, seed=0)["offset"].to_pylist()
    assert np.diff(sorted(offsets)).min() >= 6
    neighbours = draw_windows(as_array(data), 33, 1, 2, seed=0)["offset"].to_pylist()
    assert np.diff(sorted(neighbours)).min() == 3  # windows may touch


def test_a_window_may_end_with_the_corpus_but_not_beyond():
    data = b"One. " + b"x" * 100
    assert draw_windows(as_array(data), 1, 20, 80, seed=0)["offset"].to_pylist() == [5]
    with pytest.raises(UserError, match="no room"):
        draw_windows(as_array(data[:-1]), 1, 20, 80, seed=0)


def test_a_large_corpus_is_not_scanned(monkeypatch):
    visited = []

    class Counting:
        def search(self, data, start, end):
            match = windows.re.compile(rb"[.!?]\s+(?=\S)").search(data, start, end)  # type: ignore[call-overload]
            visited.append((match.end() if match else end) - start)
            return match

    monkeypatch.setattr(windows, "SENTENCE_START", Counting())
    data = as_array(TEXT * 200)
    draw_windows(data, 20, 20, 80, seed=0)
    assert 0 < sum(visited) < len(data) / 1000


@pytest.mark.parametrize(
    ("data", "placed"),
    [
        (b"Too short. For it.", 0),
        (b"No sentence ends in here " * 200, 0),
        (b"One. Two " + b"x" * 500, 1),  # one start only
    ],
)
def test_a_corpus_without_room_is_refused(data, placed):
    message = rf"corpus of {len(data):,} bytes has no room for 3 windows of 100 bytes.*\(placed {placed}\): lower"
    with pytest.raises(UserError, match=message):
        draw_windows(as_array(data), 3, 20, 80, seed=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": 0}, "windows: count is 0: write a number of at least 1"),
        ({"prompt": 0}, "windows: prompt is 0"),
        ({"scored": -1}, "windows: scored is -1"),
        ({"seed": -1}, "windows: seed is -1: write a number of at least 0"),
    ],
)
def test_numbers_that_make_no_sense(wrong, message):
    with pytest.raises(UserError, match=message):
        draw_windows(as_array(TEXT), **{"count": 1, "prompt": 20, "scored": 80, "seed": 0, **wrong})
