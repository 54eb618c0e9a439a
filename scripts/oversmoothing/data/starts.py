"""Where evaluation windows may start: with sentences, lines or characters of a text in UTF-8."""

import re

# Characters of Unicode's Sentence_Terminal beyond ASCII, hexadecimal (version 14, up to ffff), Khmer's khan and the
# ellipsis. They end a sentence without white space behind them.
_TERMINAL = (
    "589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e 1735-1736 17d4-17d5 1803 1809 "
    "1944-1945 1aa8-1aab 1b5a-1b5b 1b5e-1b5f 1b7d-1b7e 1c3b-1c3c 1c7e-1c7f 2026 203c-203d 2047-2049 2e2e 2e3c "
    "2e53-2e54 3002 a4ff a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe52 "
    "fe56-fe57 ff01 ff0e ff1f ff61"
)
# What may stand between such an end and the next sentence: spaces, closing quotation marks and brackets.
_BETWEEN = "a0 bb 200b 2019 201d 3000 3009 300b 300d 300f 3011 3015 ff09 ff3d"


def _any(ranges: str) -> bytes:
    """Regular expression of any of the characters in ranges of hexadecimal numbers, as UTF-8, by their first bytes."""
    rest: dict[bytes, list[bytes]] = {}
    for first, *last in ([int(end, 16) for end in part.split("-")] for part in ranges.split()):
        for code in range(first, (last or [first])[0] + 1):
            data = chr(code).encode()
            rest.setdefault(data[:1], []).append(re.escape(data[1:]))
    return (
        b"(?=["
        + b"".join(rest)
        + b"])(?:"
        + b"|".join(k + b"(?:" + b"|".join(v) + b")" for k, v in rest.items())
        + b")"
    )


SENTENCE, SENTENCE_OF_ANY_SCRIPT, LINE, CHARACTER = "sentence", "sentence of any script", "line", "character"
# In the order in which they are tried. A window starts where a match ends.
STARTS = {
    # The first non-space byte after a punctuation mark and at least one white space.
    SENTENCE: re.compile(rb"[.!?]\s+(?=\S)"),
    SENTENCE_OF_ANY_SCRIPT: re.compile(
        rb"(?:[.!?](?=\s)|" + _any(_TERMINAL) + rb")(?:\s|" + _any(_BETWEEN) + rb")*+(?=[^\s\x80-\xbf])"
    ),
    LINE: re.compile(rb"\n\s*(?=\S)"),
    CHARACTER: re.compile(rb"(?s).(?=[^\x80-\xbf])"),
}
