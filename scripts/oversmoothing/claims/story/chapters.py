"""The chapters of the story page: their words, tables, figures and claims, from stories."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import getmembers, isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from jinja2 import meta

from oversmoothing.claims.story.answers import at_each, at_ends, at_lowest
from oversmoothing.fingerprint import stories_of
from oversmoothing.jobs import UserError, import_by_name
from oversmoothing.tables.story import PLAIN, paragraphs, read_story

# Words of answers: functions of a table that yield sentences, by name.
Words = Mapping[str, Callable[..., Iterable[str]]]
GENERAL: Words = {"at_each": at_each, "at_ends": at_ends, "at_lowest": at_lowest}
HERE = Path(__file__)
CORE = ("models", "oversmoothing", "samples", "decoding", "truncated")  # stories of the library, in the thesis's order


@dataclass(frozen=True)
class Chart:
    """A chart of `charts.by_rank`."""

    table: str
    title: str
    menus: Mapping[str, str]  # label of each menu, by the column that it selects
    more: Sequence[str] = ()  # further tables with the same columns
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values that a column is restricted to
    series: str = ""  # the column that distinguishes lines, if it is not ours against the published


@dataclass(frozen=True)
class Chapter:
    """A chapter: a heading, paragraphs, definitions by term, and what it shows if it is there."""

    heading: str
    text: tuple[str, ...] = ()
    answer: str = ""  # what it opens with: a template whose variables are tables, and whose filters are `words`
    words: Words = field(default_factory=lambda: GENERAL)
    terms: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)  # of its figures
    # In the options of a story, which has a chapter's tables and figures by default:
    after: str = ""  # the heading that it follows; without one it is among the last
    picture: str = ""  # the figure that shows the answer
    cover: str = ""  # a figure that the page begins with; the first that is there does
    samples: str = ""  # the table of samples of which a few are shown
    claims: Sequence[str] = ()  # chapters of the claims, or their ids; by default those of the study's ``claims.py``
    charts: Sequence[Chart] = ()
    tables: Sequence[str] = ()
    figures: Sequence[str] = ()


def chapter(path: Path, words: Words | None = None, claims: Sequence[str] = ()) -> Chapter:
    """Return the chapter of a story.

    Its tables and figures are those that the story has words for, unless its options say.
    """
    story = read_story(path)
    question, answer, terms = (story.parts.get(name, "") for name in ("Question", "Answer", "Terms"))
    charts = [Chart(**chart) for chart in story.options.get("charts", ())]
    captions = story.told("Figure")
    shown: dict[str, Any] = {"tables": [*story.told("Table")], "figures": [*captions], "claims": claims}
    shown |= {**story.options, "charts": charts}
    return Chapter(
        story.heading,
        tuple(paragraphs(question)),
        answer,
        {**GENERAL, **(words or {})},
        dict(line.removeprefix("- ").split(": ", 1) for line in paragraphs(terms.replace("\n- ", "\n\n- "))),
        {name: " ".join(paragraphs(text, unit="byte")) for name, text in captions.items()},
        **shown,
    )


def of_packages(names: Iterable[str]) -> list[Chapter]:
    """Return the chapters of packages, such as ``studies.dynamics``, each of the ``story.md`` in its folder.

    The functions of ``finding.py``, where there is one, are words of answers; ``claims.py`` has its claims.
    """
    return [chapter(_folder(name) / "story.md", _words(name), _claims(name)) for name in names]


def _words(package: str) -> Words:
    return dict(getmembers(_module(package, "finding"), isfunction))


def _claims(package: str) -> list[str]:
    return [claim.id for claim in getattr(_module(package, "claims"), "CLAIMS", ())]


def _module(package: str, name: str) -> ModuleType | None:
    there = (_folder(package) / f"{name}.py").is_file()
    return import_by_name(f"{package}.{name}") if there else None


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"{package}: no such folder of code, where its story should be")
    return Path(next(iter(spec.submodule_search_locations)))


def answered(chapter: Chapter, table: Callable[[str], pd.DataFrame | None]) -> list[str]:
    """Return sentences that a chapter opens with, made of those of its tables that `table` returns."""
    environment = PLAIN.overlay()
    environment.filters = PLAIN.filters | {name: _told(word) for name, word in chapter.words.items()}
    named = meta.find_undeclared_variables(environment.parse(chapter.answer))
    tables = {name: table(name) for name in chapter.tables if name in named}
    return paragraphs(environment.from_string(chapter.answer).render(tables))


def _told(word: Callable[..., Iterable[str]]) -> Callable[..., str]:
    """Filter of a table that is there: the sentences of a function of it, each a paragraph."""
    return lambda table, *args, **where: "" if table is None else "\n\n".join(word(table, *args, **where))


CHAPTERS = tuple(chapter(path) for name in CORE for path in stories_of(HERE) if path.name == f"{name}.story.md")


def check_stories() -> None:
    """Raise a `UserError` that names a story of the library that is not installed."""
    there = {path.name for path in stories_of(HERE)}
    for name in CORE:
        if f"{name}.story.md" not in there:
            raise UserError(f"{name}.story.md: no such file; install oversmoothing again, as it is incomplete")
