"""Names of byte values, as in the thesis's chart of UTF-8 bytes (Figure A.1)."""

from collections.abc import Callable, Sequence

Decode = Callable[[Sequence[int]], bytes]  # from tokens to their text; the tokens of a byte-level model are its bytes

# The form feed, which the thesis calls FF, has its number too, because FF is the byte 0xFF.
_CONTROLS = """
    NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF(0C) CR SO SI
    DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US
"""
CONTROLS = _CONTROLS.split()
SPACE, DELETE, ASCII = 0x20, 0x7F, 0x80


def byte_name(b: int) -> str:
    """Return the unique name of a byte value, such as NUL, SP, A or DEL.

    From 0x80 on it is two hexadecimal digits, such as C3.
    """
    if b >= ASCII:
        return f"{b:02X}"
    return CONTROLS[b] if b < SPACE else {SPACE: "SP", DELETE: "DEL"}.get(b, chr(b))


def byte_kind(b: int) -> str:
    """Return the role of a byte value in UTF-8 (Figure A.1; The Unicode Standard, Table 3-7).

    It is "control", "letter", "digit", "punctuation" (the space too), "continuation", "first of 2" (3, 4) or "never":
    C0 and C1 could only begin an overlong encoding, and F5 to FF lie beyond the last code point.
    """
    if b < SPACE or b == DELETE:
        return "control"
    if b < ASCII:
        return "letter" if chr(b).isalpha() else "digit" if chr(b).isdigit() else "punctuation"
    for end, kind in ((0xC0, "continuation"), (0xC2, "never"), (0xE0, "first of 2"), (0xF0, "first of 3")):
        if b < end:
            return kind
    return "first of 4" if b < 0xF5 else "never"
