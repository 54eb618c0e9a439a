"""Byte frequencies and their total variation, counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.sample_quality.byte_frequencies import byte_tv, count_bytes, relative_frequencies

TEXTS = st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=5)


def test_relative_frequencies_by_hand():
    counts = count_bytes([b"aab", b"", b"b\xff"])
    assert counts.shape == (3, 256)
    frequencies = relative_frequencies(counts)
    assert {b: frequencies[b] for b in np.flatnonzero(frequencies)} == {97: 0.4, 98: 0.4, 255: 0.2}


@given(TEXTS, TEXTS)
def test_total_variation_is_a_distance(first, second):
    a, b = count_bytes(first), count_bytes(second)
    assert byte_tv(a, a) == 0
    assert byte_tv(a, b) == byte_tv(b, a)
    assert 0 <= byte_tv(a, b) <= 1
    joined, other = b"".join(first), b"".join(second)
    expected = sum(abs(joined.count(v) / len(joined) - other.count(v) / len(other)) for v in range(256)) / 2
    assert byte_tv(a, b) == pytest.approx(expected, abs=1e-12)


def test_a_set_without_a_byte_is_refused():
    with pytest.raises(ValueError, match="empty texts"):
        byte_tv(count_bytes([b"", b""]), count_bytes([b"a"]))
