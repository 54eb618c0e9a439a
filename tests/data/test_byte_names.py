"""Names and roles of byte values: those of the thesis's chart, and those that Python's own decoder knows."""

from oversmoothing.data.byte_names import byte_kind, byte_name


def test_names_of_the_chart():
    shown = bytes([0x00, 0x0A, 0x0C, 0x1F, 0x20, 0x21, 0x41, 0x7E, 0x7F, 0x80, 0xC3, 0xFF])
    assert list(map(byte_name, shown)) == ["NUL", "LF", "FF(0C)", "US", "SP", *"!A~", "DEL", "80", "C3", "FF"]
    assert len({byte_name(b) for b in range(256)}) == 256


def decodes(data):
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def test_kinds_are_those_that_pythons_decoder_knows():
    """A byte begins a character of n bytes if some n - 1 continuations complete it; one that does nothing is never."""
    ends = [bytes(end) for end in ([0x80], [0xA0], [0xBF], [0x9F])]
    for b in range(0x80, 0x100):
        first = {n for n in (2, 3, 4) for second in ends if decodes(bytes([b]) + second + b"\x80" * (n - 2))}
        continues = decodes(b"\xc3" + bytes([b]))
        expected = f"first of {first.pop()}" if first else "continuation" if continues else "never"
        assert byte_kind(b) == expected, hex(b)


def test_kinds_of_ascii():
    assert {kind: bytes(b for b in range(0x80) if byte_kind(b) == kind) for kind in map(byte_kind, range(0x80))} == {
        "digit": b"0123456789",
        "letter": b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "control": bytes([*range(32), 127]),
        "punctuation": b" !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    }
