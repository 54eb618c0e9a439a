"""States of a text that is cut around added tokens alone, against all continuations of every text with all claims."""

from itertools import chain, combinations, product

import numpy as np
import pytest
import regex

from oversmoothing.bytewise.segments import DEAD, START, AddedSegments

LETTERS = "abc"


def cut(added, text):
    """Return where the segments of a text begin, by the definition."""
    pieces = regex.findall("|".join([*sorted(added, key=len, reverse=True), "."]), text)
    starts, at, plain = [], 0, False
    for piece in pieces:
        if piece in added or not plain:
            starts.append(at)
        plain, at = piece not in added, at + len(piece)
    return starts


@pytest.mark.parametrize("added", [["a"], ["aa", "aaa"], ["ab", "abab"], ["abc", "b", "bca"], ["aab", "ab", "ba"]])
def test_a_state_is_dead_if_no_continuation_bears_the_claims_out(added):
    classes = np.full(0x110000, 2, np.int16)
    classes[[ord(letter) for letter in LETTERS]] = range(3)
    segments = AddedSegments(lambda text: cut(added, text), classes, list(LETTERS), added)
    behind = ["".join(each) for length in range(4) for each in product(LETTERS, repeat=length)]
    dead = 0
    for text in ("".join(each) for length in range(1, 6) for each in product(LETTERS, repeat=length)):
        possible = {tuple(at for at in cut(added, text + more) if at < len(text)) for more in behind}
        for claims in chain.from_iterable(combinations(range(len(text)), size) for size in range(len(text) + 1)):
            state = START
            for at, letter in enumerate(text):
                state = segments.step(state, int(classes[ord(letter)]), at in claims)
            assert (state != DEAD) == (claims in possible), (text, claims)
            assert segments.is_whole(state) == (list(claims) == cut(added, text))
            dead += state == DEAD
    assert dead
