"""Conversion of a docstring's paragraph from markup to plain text, where that is possible."""

import re
from collections.abc import Callable

# Literals that read as words: a name, a dotted name, a number or a short assignment.
_SPEAKABLE = re.compile(r"[A-Za-z_][\w.-]*(?:\(\))?|-?\d[\d.,]*%?|[A-Za-z_]\w*=[\w.'\"-]+|'[\w -]+'|\"[\w -]+\"")
_TAIL = r"(?=$|[\s.,;:!?)\]'\"/\u2019-])"  # what may follow the end of inline markup
_HEAD = r"(?:(?<=^)|(?<=[\s(\[\"'/\u2018-]))"  # what may precede its start

_ROLE = re.compile(r"(?::[a-zA-Z][\w+-]*(?::[a-zA-Z][\w+-]*)*:)`(~|!)?([^`<]+?)(?:\s*<[^`>]*>)?`")
_MATH = re.compile(r"(?::math:`([^`]*)`|\$([^$]{1,200})\$|\\\((.*?)\\\))")
_LINK = re.compile(r"`([^`<>]+?)\s*<[^`>]+>`_{1,2}")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]+)\](?:\([^()\s]+\)|\[[^\[\]]*\])")
_BRACKETED_CODE = re.compile(r"\[(`[^`\[\]]+`)\]")
_FOOTNOTE = re.compile(r"\s*\[(?:\d+|#\w*|\*|[A-Z][A-Za-z]+\d{2,4}[a-z]?)\]_(?=\W|$)")
# A footnote mark after one of these words is part of the sentence.
_PREPOSITIONS = "above also and as at by cf cf. from in is of on or per ref ref. see than the to with"
_LITERAL = re.compile(r"``(.+?)``|`([^`]+)`_{0,2}")
_STRONG = re.compile(_HEAD + r"\*\*(\S(?:[^*]*?\S)?)\*\*" + _TAIL)
_EMPHASIS = re.compile(_HEAD + r"\*(\S(?:[^*]*?\S)?)\*" + _TAIL)
_UNDERSCORED = re.compile(_HEAD + r"_([A-Za-z][A-Za-z ]*)_" + _TAIL)
_REFERENCE = re.compile(r"\b([A-Za-z][\w-]*[A-Za-z0-9])_(?=[\s.,;:!?)]|$)")

# Names with an underscore (``n_samples``) count as words; any other underscore is residue.
_NAMES = re.compile(r"\b_?[A-Za-z][A-Za-z0-9]*(?:(?:_[A-Za-z0-9]+)+_?|_)(?!\w)")
# Remains of markup, code or mathematics, which do not occur in a sentence of prose.
_RESIDUE = re.compile(
    r"[`|\\{}<>=~^$@#*\[\]_]|https?:|www\.|::|->|%[sdrf(]|&\w+;"  # marks, addresses, format strings
    r"|\w\w\)?\w*\([^\s)]*,|\w\.\w+\(|\.\.\.\s*\w+\(|\s[+/-]\s"  # calls, arithmetic
    r"|[A-Za-z]:[A-Za-z]|(?<!\S):\w|\s[:;,!?](?:\s|$)|[,;(]\s*[.,;)]|''"  # half a role; a hole
)
_SPACES = re.compile(r"[\s\u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_FOREIGN = re.compile(r"[\ufffd\ud800-\udfff\ue000-\uf8ff\u2190-\u2bff\U0001f000-\U0001faff]")


def plain(text: str) -> str | None:
    """Strip the markup from a paragraph; None if code, mathematics or markup remains that cannot be read as words.

    Letters outside ASCII are kept, runs of white space become one space, and characters without a glyph are removed.
    """
    text = _SPACES.sub(" ", _UNPRINTABLE.sub("", _SPACES.sub(" ", text))).strip()
    for mark, pattern, replacement in _STEPS:
        if mark in text:  # most paragraphs have few marks
            text = pattern.sub(replacement, text)
    text = re.sub(r"\s+([.,;!?](?:\s|$))", r"\1", text.replace("\\ ", " ").replace(" 's ", "'s "))
    return None if _RESIDUE.search(_NAMES.sub("name", text)) or _FOREIGN.search(text) else text


def _footnote(match: re.Match[str]) -> str:
    """Remove a footnote mark, unless the sentence needs it, as in "suggested in [1]_"."""
    before = match.string[: match.start()].rsplit(" ", 1)[-1].lower()
    return "$" if before in _PREPOSITIONS.split() or not before or before.endswith("(") else ""


def _role(match: re.Match[str]) -> str:
    name = match[2].strip(". ")
    return name.rsplit(".", 1)[-1] if match[1] == "~" else name


def _formula(match: re.Match[str]) -> str:
    """Return the text of a formula that is one letter, word or number; otherwise a mark of residue."""
    body = next(group for group in match.groups() if group is not None).strip()
    return body if re.fullmatch(r"[A-Za-z]+|\d+(?:\.\d+)?", body) else "$"


def _literal(match: re.Match[str]) -> str:
    """Return the text of a literal that is a name, a number or words; otherwise a mark of residue."""
    body = (match[1] or match[2] or "").strip().lstrip("~!.")
    return body if _SPEAKABLE.fullmatch(body) or re.fullmatch(r"[A-Za-z][A-Za-z ,.'-]*", body) else "$"


# In this order, each applied to paragraphs that have its mark.
_STEPS: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("[", _FOOTNOTE, _footnote),
    ("_", _REFERENCE, r"\1"),  # before the literals, whose names may end in _ (``coef_``)
    ("", _MATH, _formula),
    ("`", _ROLE, _role),
    ("`", _LINK, r"\1"),
    ("[", _BRACKETED_CODE, r"\1"),
    ("[", _MARKDOWN_LINK, r"\1"),
    ("`", _LITERAL, _literal),
    ("*", _STRONG, r"\1"),
    ("*", _EMPHASIS, r"\1"),
    ("_", _UNDERSCORED, r"\1"),
)
