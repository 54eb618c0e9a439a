"""Bytes as readable text: every one is visible, whatever a model wrote.

Invalid UTF-8, control characters and characters without a glyph appear as badges such as ⟨C3⟩, ⟨NUL⟩ or
⟨U+202E⟩, and the end of a line as ↵.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

from markupsafe import Markup, escape

from oversmoothing.data.byte_names import byte_name
from oversmoothing.printable import SURROGATE, UNSEEN

LINE_END = "↵"
LONGEST_WORD = 24  # characters of a prompt's last word repeated before a continuation
MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&$:@]|(?<=www)\.)")  # escaped: possible markup or links
OPEN_BOX = "\N{OPEN BOX}"  # a visible space
JOINED_SPACES = re.compile("(?:(?<= )|(?<=<br>)|^) | $")  # which Markdown drops
LEGEND = (
    "Bold: the prompt; before a continuation, the part of its last word that the model was given. "
    "⟨C3⟩: a byte that is not valid UTF-8 there, or a control character by name. ↵: the end of a line."
)


def segments(data: bytes) -> Iterator[tuple[str, bool]]:
    """Split bytes into readable text and badges; yield each with whether it is a badge, which holds only its name."""
    decoded = data.decode("utf-8", errors="surrogateescape")
    for unseen, run in groupby(decoded, lambda character: unicodedata.category(character) in UNSEEN):
        if unseen:
            yield from ((_badge(character), True) for character in run)
        else:
            yield "".join(run), False


def visible(data: bytes) -> str:
    """Return bytes as plain text on one line."""
    return "".join(_bracketed(part) if badge else part for part, badge in segments(data))


def markdown(data: bytes) -> str:
    """Return bytes as Markdown, also valid in a table, with every character literal and every line break kept."""
    parts = []
    for part, badge in segments(data):
        plain = literal(part)
        parts.append(_bracketed(plain).replace(LINE_END, f"{LINE_END}<br>") if badge else plain)
    return JOINED_SPACES.sub("&nbsp;", "".join(parts))


def literal(text: str) -> str:
    """Return a text as Markdown, without markup or links."""
    return MARKDOWN.sub(r"\\\1", text)


def html(data: bytes) -> Markup:
    """Return bytes as escaped HTML with ``<i>`` badges; line breaks are kept (CSS ``pre-wrap``)."""
    parts = []
    for part, badge in segments(data):
        parts.append(Markup("<i>{}</i>").format(part) + "\n" * (part == LINE_END) if badge else escape(part))
    return Markup("").join(parts)


def last_word(prompt: bytes) -> bytes:
    """Return the unfinished last word of a prompt; empty if the prompt ends between words."""
    tail = re.split(rb"\s", prompt)[-1]
    return tail if len(tail) <= LONGEST_WORD else b""


def _badge(character: str) -> str:
    code = ord(character)
    if character == "\n":
        return LINE_END
    if SURROGATE <= code < SURROGATE + 256:
        return byte_name(code - SURROGATE)
    return byte_name(code) if code < 0x80 else f"U+{code:04X}"


def _bracketed(name: str) -> str:
    return name if name == LINE_END else f"⟨{name}⟩"
