"""Extraction of English prose from docstrings, without code, tables or markup.

The first pass uses the layout: it removes headers, underlines, doctests, literal blocks, directives and reference
lists, and joins the remaining lines into paragraphs. The second uses the words: `markup.plain` strips the markup from
each paragraph, and only paragraphs of whole sentences in ordinary words are kept.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from oversmoothing.data.markup import plain

# Sections (NumPy and Google style) that contain lists of names rather than sentences.
DROPPED_SECTIONS = {"references", "reference", "see also", "seealso", "citations", "citation", "methods", "raises"}
# Sections in which `name (type): text` is an entry and only the text after the colon is prose.
ENTRY_SECTIONS = (
    "args|arguments|attributes|keyword args|keyword arguments|kwargs|inputs?|outputs?|parameters|params|"
    "other parameters|properties|fields|members|returns?|yields?|shape|keys"
)
# Directives whose body is prose; the body of any other (code, math, tables, footnotes) is dropped.
PROSE_DIRECTIVES = {"admonition", "attention", "caution", "danger", "hint", "important", "note", "tip", "warning"}

_HEADER = re.compile(
    rf"({ENTRY_SECTIONS}|examples?|notes?|usage|{'|'.join(sorted(DROPPED_SECTIONS))})\s*:{{1,2}}", re.I
)
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#.:_])\1{2,}")
_DIRECTIVE = re.compile(r"\.\.(?:\s+([A-Za-z][\w:-]*)\s*::\s*(.*)|\s.*|$)")
_BULLET = re.compile(r"(?:[-*+\u2022\u2013]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)")
_FIELD = re.compile(r":[A-Za-z]+(?:\s[^:]*)?:\s+(?=\S)")
_ENTRY = re.compile(r"[`*'\"\w.,\[\]/ -]{1,60}?(?:\s*\(.*?\))?\s*(?::|--?)\s+(?=\S)")
_TABLE = re.compile(r"\||\+[-=+]{3,}|={2,}\s+=|-{2,}\s+-")
_CUT = re.compile(r"^(?:TODO|FIXME|XXX)|\b(?:e\.g|i\.e|cf)\.$")  # a note to oneself; a sentence cut short
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'\u201d\u2019]*\s+(?=[\"'\u201c\u2018(]?[A-Z0-9])")

# Function words of English; their share distinguishes prose from lists of names.
_COMMON_WORDS = (
    "a about after all also although an and any are as at be because been before being between both but by "
    "can cannot could do does each either else every for from had has have how however if in instead into is "
    "it its may more most must neither no not of on once one only or other otherwise over same should since "
    "so some such than that the their them then there therefore these they this those through thus to under "
    "unless until up upon use used using was we were what when where whether which while who whose why will "
    "with within without would you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())


def paragraphs(docstring: str) -> list[str]:
    """Return the paragraphs of whole sentences in a docstring, in order and each on one line.

    It has its indentation, in reStructuredText, Markdown, NumPy or Google style.
    """
    return [text for lines in _blocks(_dedent(docstring)) if (text := _sentences(" ".join(lines)))]


def _dedent(docstring: str) -> list[str]:
    """Split into lines without the common indentation (``inspect.cleandoc`` differs between Python versions)."""
    lines = [line.rstrip() for line in docstring.expandtabs().splitlines()]
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line), default=0)
    return [line.lstrip() if number == 0 else line[margin:] for number, line in enumerate(lines)]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines of each block that may be prose, judged by layout alone."""
    block: list[str] = []  # the paragraph being read
    depth = 0  # its indentation
    hanging = False  # its later lines are indented more than its first: a list item or an entry
    skip: int | None = None  # drop every line deeper than this
    fence = ""  # the mark that closes a Markdown code block
    dropped = code = False  # inside a dropped section; inside a doctest
    entries: int | None = None  # inside a section whose entries are indented more than this

    for line in lines:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if fence or (text.startswith(("```", "~~~")) and text[:3] not in text[3:]):
            if not fence:
                fence = text[:3]
                yield block
                block = []
            elif text.startswith(fence):
                fence = ""
            continue
        if not text:
            if block and block[-1].endswith("::"):
                skip = depth
            yield block
            block, code = [], False
            continue
        if skip is not None:
            if indent > skip:
                continue
            skip = None
        if _UNDERLINE.fullmatch(text):  # the line above was a header
            dropped = bool(block) and block[-1].lower().rstrip(":") in DROPPED_SECTIONS
            block, entries = [], None
            continue
        if code:
            continue
        if text.startswith(">>>") or text.startswith("In ["):
            block, code = [], True
            continue
        if _HEADER.fullmatch(text):
            yield block
            name = text.rstrip(": ").lower()
            block, entries = [], indent if re.fullmatch(ENTRY_SECTIONS, name) else None
            if name in DROPPED_SECTIONS or text.endswith("::"):
                skip = indent
            continue
        if directive := _DIRECTIVE.match(text):
            yield block
            block = []
            if directive[1] and directive[1].lower() in PROSE_DIRECTIVES:
                if directive[2]:
                    block, depth, hanging = [directive[2]], indent, True
            else:
                skip = indent
            continue
        if dropped or _TABLE.match(text):
            block = []
            continue
        if entries is not None and indent <= entries:
            entries = None
        if field := _FIELD.match(text):
            yield block
            block, depth, hanging = [text[field.end() :]], indent, True
        elif (bullet := _BULLET.match(text)) and (not block or len(bullet[0].strip()) == 1 or hanging):
            yield block
            text = text[bullet.end() :]
            entry = _ENTRY.match(text) if entries is not None else None
            block, depth, hanging = [text[entry.end() :] if entry else text], indent, True
        elif entries is not None and (not block or indent <= depth) and (entry := _ENTRY.match(text)):
            yield block
            block, depth, hanging = [text[entry.end() :]], indent, True
        elif not block or (indent <= depth if hanging else indent != depth):
            yield block
            block, depth, hanging = [text], indent, False
        else:
            block.append(text)
    yield block


@lru_cache(100_000)  # packages repeat many of their paragraphs
def _sentences(paragraph: str) -> str | None:
    """Return the text of a paragraph of whole sentences of ordinary words, without a final one that introduces code."""
    text = plain(paragraph)
    if not text:
        return None
    if text.endswith(":"):
        ends = (match.start() for match in _SENTENCE_END.finditer(text))
        text = text[: max(ends, default=0)].rstrip()
    if not re.match(r"[\"\u201c'(]?[A-Z]", text) or not re.search(r"[a-z0-9)\"'\u201d%][.!?][)\"'\u201d]?$", text):
        return None
    if text.count("(") != text.count(")") or _CUT.search(text):
        return None
    words = re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", text)
    tokens = text.split()
    if len(tokens) < 5 or len(words) < 0.9 * len(tokens):
        return None
    common = sum(word.lower() in _COMMON for word in words)
    letters = sum(character.isalpha() or character == " " for character in text)
    if common < max(1, 0.2 * len(words)) or letters < 0.92 * len(text):
        return None
    return text
