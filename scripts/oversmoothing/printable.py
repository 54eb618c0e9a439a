"""Text of others as it may be printed: no terminal obeys it, and nothing in it is invisible."""

import unicodedata

UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # Unicode categories without a glyph
SURROGATE = 0xDC00  # offset of Python's surrogateescape for a byte that is not UTF-8


def printable(text: str) -> str:
    r"""Return text on one line, in which a character without a glyph is an escape, such as ``\x1b`` or ``\u202e``."""
    return "".join(_escaped(c) if unicodedata.category(c) in UNSEEN else c for c in text)


def printable_lines(text: str) -> str:
    """Return text whose lines are `printable`."""
    return "\n".join(map(printable, text.split("\n")))


def _escaped(character: str) -> str:
    code = ord(character) - SURROGATE
    return f"\\x{code:02x}" if 0x80 <= code < 0x100 else character.encode("unicode_escape").decode()
