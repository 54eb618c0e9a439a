r"""Classes of characters that a pre-tokenizer cannot tell apart.

Two characters are of one class if every part of the pre-tokenizer's expressions that stands for a character (a literal,
a range, ``\p{L}``, ``\s``) matches both or neither. Expressions are those of ``tokenizer.json``.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import regex

from oversmoothing.bytewise.segments import Split
from oversmoothing.bytewise.utf8 import CODES, SURROGATES

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # of a pre-tokenizer ByteLevel
# What stands for a character in an expression; how often it repeats; and what begins a group.
CODE = r"\\u\{?[0-9A-Fa-f]{4,6}\}?|\\x[0-9A-Fa-f]{2}"
PART = regex.compile(rf"\\[pP]\{{\^?\w+\}}|\\[pP]\w|{CODE}|\[:\^?\w+:\]|\\?.", regex.S)
REPEATED = regex.compile(r"\{(\d*)(,?)(\d*)\}")
GROUP = regex.compile(r"\?(?:[imsx-]*:|[=!>]|[imsx-]+(?=\)))")
WORD = regex.compile(r"(?:\\[^\w\s]|[^\\()\[\]{}|*+?^$.:]){2,}")  # literals in a row; some more in classes do no harm
SYNTAX = set("()[]|*+?^&")
ANY_CHARACTER = "."


class Characters(NamedTuple):
    """Class of each code point, int16 (0x110000,), -1 for a surrogate; a character of each class; what they form."""

    classes: np.ndarray
    characters: list[str]
    words: list[str]  # literals of several characters
    most: int  # the highest count

    def merged(self, split: Split, apart: Callable[[str], Hashable]) -> "Characters":
        """Return classes without differences that no text shows, as a pre-tokenizer cuts it.

        Of two classes one is left if no text of up to three characters, no literal and no run, with one more character
        before or behind it, is cut otherwise where one stands in place of the other. Characters of which `apart` gives
        different values are told apart in any case.
        """
        every = self.characters
        words = [*self.words, *self.runs(split)]
        around = [(one, other) for one in ("", *every) for other in ("", *every)]
        longer = [*((one + other, "") for one, other in around), *(("", one + other) for one, other in around)]
        for before, behind in ((word[:at], word[at + 1 :]) for word in words for at in range(len(word))):
            longer += [(each + before, behind) for each in every] + [(before, behind + each) for each in ("", *every)]
        groups = _parted([every], apart)
        for holes in (around, list(dict.fromkeys(longer))):
            groups = _parted(groups, partial(_cuts, split, holes))
        kept = np.zeros(len(every) + 1, np.int16)
        kept[-1] = -1  # of a surrogate
        for number, group in enumerate(groups):
            kept[[every.index(each) for each in group]] = number
        return self._replace(classes=kept[self.classes], characters=[group[0] for group in groups])

    def runs(self, split: Split) -> list[str]:
        """Return runs of characters whose length matters to a pre-tokenizer, one longer than its highest count."""
        longest = max(self.most + 1, 4)
        around = [(one, other) for one in ("", *self.characters) for other in ("", *self.characters)]
        found = []
        for each in self.characters if self.most > 1 else []:
            cuts = [[_outside(split, *ends, each, n) for ends in around] for n in range(3, longest + 1)]
            if None in cuts[0] or any(cut != cuts[0] for cut in cuts):
                found.append(each * longest)
        return found


def classes(
    pre_tokenizer: Mapping[str, Any] | None, literals: Collection[str], apart: np.ndarray | None = None
) -> Characters:
    """Return classes of the characters for a pre-tokenizer as ``tokenizer.json`` describes it.

    `literals` are characters that are told apart in any case, and those where `apart`, bool (0x110000,), holds are told
    from the others. A `ValueError` names what is not understood.
    """
    expressions = [parse(each) for each in expressions_of(pre_tokenizer)]
    parts = sorted({part for found, _, _ in expressions for part in found} | set(map(regex.escape, literals)))
    codes = np.setdiff1d(np.arange(CODES), np.array(SURROGATES))
    every = "".join(map(chr, codes))
    columns = np.zeros((len(parts), CODES), bool)
    for row, part in zip(columns, parts, strict=True):
        row[codes[[match.start() for match in regex.finditer(part, every, regex.S)]]] = True
    if apart is not None:
        columns = np.concatenate([columns, apart[None]])
    _, first, inverse = np.unique(
        np.packbits(columns[:, codes], axis=0), axis=1, return_index=True, return_inverse=True
    )
    kinds = np.full(CODES, -1, np.int16)
    kinds[codes] = inverse.reshape(-1)
    words = sorted({word for _, found, _ in expressions for word in found})
    return Characters(kinds, [every[at] for at in first], words, max((most for *_, most in expressions), default=1))


def expressions_of(pre_tokenizer: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the expressions of a pre-tokenizer; a `ValueError` names one that is not understood."""
    if pre_tokenizer is None:
        return
    match pre_tokenizer:
        case {"type": "Sequence", "pretokenizers": parts}:
            for part in parts:
                yield from expressions_of(part)
        case {"type": "ByteLevel", "add_prefix_space": False}:
            if pre_tokenizer.get("use_regex", True):
                yield GPT_2
        case {"type": "Split", "pattern": {"Regex": str(pattern)}}:
            yield pattern
        case {"type": "Split", "pattern": {"String": str(text)}}:
            yield regex.escape(text)
        case {"type": "Digits"}:
            yield r"\p{N}"
        case {"type": "Punctuation"}:
            yield r"[[:punct:]]|\p{P}|[$+<=>^`|~]"
        case {"type": "ByteLevel"}:
            raise ValueError("its pre-tokenizer ByteLevel adds a space before a text (add_prefix_space)")
        case _:
            raise ValueError(f"its pre-tokenizer {pre_tokenizer.get('type')} is none of those that are read here")


def parse(expression: str) -> tuple[set[str], set[str], int]:
    r"""Return the parts of an expression, its literals of several characters, and its highest count.

    A part is, for example, ``\p{L}`` or ``[a-z]``.

    A `ValueError` names what is not understood.
    """
    parts, at, most, in_class, any_case = set(), 0, 1, False, False
    words = {regex.sub(r"\\(.)", r"\1", each[0]) for each in WORD.finditer(expression)}
    while at < len(expression):
        if not in_class and expression[at] == "?" and at and expression[at - 1] == "(":
            if not (group := GROUP.match(expression, at)):
                raise ValueError(f"its pre-tokenizer's expression has (?{expression[at + 1 : at + 3]}, not read here")
            any_case |= "i" in group[0]
            at = group.end()
            continue
        if not in_class and (repeated := REPEATED.match(expression, at)):
            most = max(most, *(int(number) for number in (repeated[1], repeated[3]) if number))
            at = repeated.end()
            continue
        part = PART.match(expression, at)
        assert part
        at = part.end()
        if in_class and expression[at : at + 1] == "-" and expression[at + 1 : at + 2] not in ("", "]"):
            high = PART.match(expression, at + 1)
            assert high
            at = high.end()
            parts.add(f"[{part[0]}-{high[0]}]")
        elif part[0] in ("[", "]"):
            in_class = part[0] == "["
        elif part[0] in SYNTAX or (part[0] == "$" and not in_class):
            if part[0] in "^$" and not in_class:
                raise ValueError(f"its pre-tokenizer's expression has {part[0]}, which is not read here")
        elif part[0].startswith("[:"):
            parts.add(f"[{part[0]}]")
        elif part[0] == ANY_CHARACTER and not in_class:
            parts.add(r"\n")
        elif part[0] in (r"\b", r"\B", r"\A", r"\z", r"\Z", r"\G"):
            raise ValueError(f"its pre-tokenizer's expression has {part[0]}, which is not read here")
        else:
            parts.add(part[0])
    return set(_with_case(parts)) if any_case else parts, words, most


def _parted(groups: Collection[list[str]], key: Callable[[str], Hashable]) -> list[list[str]]:
    """Return groups parted by a key."""
    parted: list[list[str]] = []
    for group in groups:
        of_key: dict[Hashable, list[str]] = {}
        for each in group:
            of_key.setdefault(key(each) if len(group) > 1 else None, []).append(each)
        parted += of_key.values()
    return parted


def _cuts(split: Split, holes: Collection[tuple[str, str]], each: str) -> Hashable:
    return tuple(tuple(split(before + each + behind)) for before, behind in holes)


def _outside(split: Split, before: str, behind: str, each: str, n: int) -> tuple[int, ...] | None:
    """Return where a text is cut around a run of n times a character, as for a run of 3; None if inside it."""
    low, high = len(before) + 1, len(before) + n - 1
    cut = split(before + each * n + behind)
    return None if any(low < at < high for at in cut) else tuple(at if at <= low else at - n + 3 for at in cut)


def _with_case(parts: Collection[str]) -> Iterator[str]:
    """Yield parts, and of single characters those that equal them but for their case."""
    for part in parts:
        yield part
        if len(part.lstrip("\\")) == 1 and part.isalpha():
            yield from (each for each in map(chr, range(0x3000)) if each.casefold() == part.casefold())
