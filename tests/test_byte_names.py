import pytest

from oversmoothing.byte_names import byte_name


@pytest.mark.parametrize(
    ("value", "name"),
    [
        *[(0x00, "NUL"), (0x0A, "LF"), (0x0C, "FF(0C)"), (0x1F, "US"), (0x20, "SP"), (0x21, "!")],
        *[(0x41, "A"), (0x7E, "~"), (0x7F, "DEL"), (0x80, "80"), (0xC3, "C3"), (0xFF, "FF")],
    ],
)
def test_names_of_the_chart(value, name):
    assert byte_name(value) == name


def test_names_are_unique_and_without_spaces():
    names = [byte_name(b) for b in range(256)]
    assert len(set(names)) == 256
    assert all(name and " " not in name for name in names)


@pytest.mark.parametrize("value", [-1, 256])
def test_no_byte(value):
    with pytest.raises(ValueError, match=f"{value} is no byte value"):
        byte_name(value)
