"""Names of byte values, as the thesis's chart of UTF-8 bytes gives them (Figure A.1)."""

_CONTROLS = """
    NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI
    DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US
"""
CONTROLS = _CONTROLS.split()
SPACE, DELETE, ASCII = 0x20, 0x7F, 0x80
FORM_FEED = 0x0C


def byte_name(b: int) -> str:
    """Name a byte value: NUL, SP, A, DEL; from 0x80 on its two hexadecimal digits, such as C3.

    Names are unique: the form feed, which the thesis calls FF like the byte 0xFF, is FF(0C) here.

    Raises
    ------
    ValueError
        If `b` is not between 0 and 255.
    """
    if not 0 <= b <= 0xFF:
        raise ValueError(f"{b} is no byte value; it must lie between 0 and 255")
    if b < SPACE:
        return "FF(0C)" if b == FORM_FEED else CONTROLS[b]
    if b >= ASCII:
        return f"{b:02X}"
    return {SPACE: "SP", DELETE: "DEL"}.get(b, chr(b))
