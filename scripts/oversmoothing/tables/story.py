"""Stories: what is said of results, each thing once, in a Markdown file beside the code that makes them.

A story, ``story.md`` of a study or ``tables/*.story.md`` of the library, is a chapter of the page, with the words of
its tables and figures: the legend under a table, and the caption in Snakemake's report. Its parts are::

    ---                         how the page shows it, in YAML (see `Chapter`)
    ---
    # Heading
    ## Question                 paragraphs
    ## Answer                   sentences that jinja2 makes of the run's tables
    ## Terms                    one a line: `- term: meaning`
    ## Table NAME               its legend; the first paragraph is also its caption
    ## Figure NAME              its caption

Text is prose, with `code` between backticks and no other markup. Several tables may share their words, `## Table a, b`;
the words of a figure are also those of figures whose names begin with its own.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from oversmoothing.fingerprint import stories_of
from oversmoothing.jobs import UserError

PLAIN = Environment(undefined=StrictUndefined, finalize=lambda value: f"{value:,}" if type(value) is int else value)
MARKUP = re.compile(r"[*_|\\]")  # of reStructuredText, in prose


@dataclass(frozen=True)
class Story:
    """A story: its options, its heading, and its parts by their headings, such as "Answer" and "Table forced"."""

    options: Mapping[str, Any]
    heading: str
    parts: Mapping[str, str]

    def told(self, kind: str) -> dict[str, str]:
        """Return words of the tables or figures ("Table", "Figure") by name."""
        return {
            name: text
            for heading, text in self.parts.items()
            if heading.startswith(f"{kind} ")
            for name in heading.removeprefix(f"{kind} ").split(", ")
        }


@cache
def read_story(path: Path) -> Story:
    """Read a story; a `UserError` if it has no heading."""
    text = path.read_text(encoding="utf-8")
    _, options, text = text.split("---\n", 2) if text.startswith("---\n") else ("", "", text)
    first, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    heading = re.search(r"^# (.+)$", first, flags=re.MULTILINE)
    if heading is None:
        raise UserError(f"{path}: has no heading; begin it with a line such as `# What is asked`")
    split = {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() for part in parts}
    return Story(yaml.safe_load(options) or {}, heading[1].strip(), split)


def paragraphs(text: str, **values: Any) -> list[str]:
    """Return paragraphs of a part, each on one line, with values for the names in it."""
    text = PLAIN.from_string(text).render(values) if "{" in text else text
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def legend(module: str, table: str, **values: Any) -> list[str]:
    """Return the legend of a table, for `Page`, from the stories of the module (its `__file__`) that makes it."""
    told = _words("Table", table, map(read_story, stories_of(Path(module))))
    return [" ".join(paragraphs(told, **values)).removesuffix(".")]


def caption(kind: str, name: str, stories: Iterable[Story], **values: Any) -> str:
    """Return the caption of a table or figure ("Table", "Figure") in reStructuredText.

    Of a table it is the first paragraph.
    """
    words = _words(kind, name, stories)
    words = re.split(r"\n\s*\n", words)[0] if kind == "Table" else words
    return "\n\n".join(map(_restructured, paragraphs(words, **values))) + "\n"


def words_for(name: str, told: Mapping[str, str]) -> str:
    """Return words that are `told` of a name, or else of the longest with which it begins; "" if there are none."""
    begins = [known for known in told if name == known or name.startswith(f"{known}_")]
    return told[max(begins, key=len)] if begins else ""


def _words(kind: str, name: str, stories: Iterable[Story]) -> str:
    told = {known: text for story in stories for known, text in story.told(kind).items()}
    words = words_for(name, told) if kind == "Figure" else told.get(name, "")
    if not words:
        raise UserError(f"no story tells of the {kind.lower()} {name}; add a part `## {kind} {name}` to one")
    return words


def _restructured(text: str) -> str:
    """Return prose in reStructuredText."""
    parts = text.split("`")
    return "".join(f"``{part}``" if i % 2 else MARKUP.sub(r"\\\g<0>", part) for i, part in enumerate(parts))
