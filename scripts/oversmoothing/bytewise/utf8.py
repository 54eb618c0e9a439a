"""Characters of texts as bytes: whole ones, and the beginnings of others."""

CODES = 0x110000  # code points
SURROGATES = range(0xD800, 0xE000)  # which no text has


def length_from(lead: int) -> int:
    """Return the length of the UTF-8 of a character by its first byte; 1 for a byte inside a character."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def code_points(rest: bytes) -> tuple[int, int]:
    """Return the range of the code points whose UTF-8 begins with `rest`, one to three bytes.

    It is empty if there are none.
    """
    lead, length = rest[0], length_from(rest[0])
    if not 0xC2 <= lead < 0xF5 or len(rest) >= length or any(byte >> 6 != 2 for byte in rest[1:]):
        return 0, 0
    low = lead & (0x7F >> length)
    for byte in rest[1:]:
        low = low << 6 | byte & 0x3F
    bits = 6 * (length - len(rest))
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[length]
    return max(low << bits, least), min((low + 1) << bits, CODES)


def decode(text: bytes) -> tuple[str, bytes]:
    """Split bytes into whole characters and the beginning of another; a `UnicodeDecodeError` if they are no UTF-8."""
    try:
        return text.decode(), b""
    except UnicodeDecodeError:
        for cut in range(1, min(3, len(text)) + 1):
            rest = text[len(text) - cut :]
            if rest[0] >= 0xC0:
                low, high = code_points(rest)
                if low < high:
                    return text[: len(text) - cut].decode(), rest
                break
        raise
