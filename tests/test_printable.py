"""What others wrote, printed: no terminal obeys it, and what has a glyph stays."""

import pytest

from oversmoothing.jobs import UserError, explain
from oversmoothing.printable import printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("é 中 ⟨C3⟩ a\u0301", "é 中 ⟨C3⟩ a\u0301"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("one\r\ntwo\x7f\u2028", r"one\r\ntwo\x7f\u2028"),
        ("\udcff", r"\xff"),
        ("\ud800", r"\ud800"),
    ],
)
def test_a_character_without_a_glyph_is_an_escape(text, shown):
    assert printable(text) == shown
    assert explain(UserError(text)) == shown


def test_lines_stay_lines():
    assert printable_lines("a\x1b[2J\nb\n") == "a\\x1b[2J\nb\n"
