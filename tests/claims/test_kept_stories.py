"""Each chapter over the tables that are kept: sentences with numbers, and nothing that a template left behind."""

import re
from functools import cache

import pytest
from kept_runs import NO_RECORDS, RUNS, STUDIES, tables

from oversmoothing.claims.story.chapters import CHAPTERS, answered, of_packages
from oversmoothing.jobs import import_by_name
from plan import studies

NAMES = [name for name in studies.there() if (studies.FOLDER / name / "story.md").is_file()]
LEFT = re.compile(r"[{}]|\bnan\b|\bNone\b|\binf\b|[Uu]ndefined")


@cache
def chapters():
    return [*CHAPTERS, *of_packages(f"studies.{name}" for name in NAMES)]


@cache
def records(run):
    return {name: table for name, table in tables(run).items() if name not in NO_RECORDS}


@cache
def answers(run):
    """Return the sentences of each chapter."""
    return {chapter.heading: answered(chapter, records(run).get) for chapter in chapters()}


@pytest.mark.parametrize("run", RUNS, ids=lambda path: str(path.relative_to(STUDIES)))
def test_every_chapter_answers_from_what_a_run_has(run):
    for chapter in chapters():
        sentences = answers(run)[chapter.heading]
        for sentence in sentences:
            assert not LEFT.search(sentence), (chapter.heading, sentence)
            assert sentence[0].isupper()
            assert sentence.endswith(".")
        named = [name for name in chapter.tables if re.search(rf"\b{name} \|", chapter.answer)]
        if any(name in records(run) for name in named):
            assert re.search(r"\d", " ".join(sentences)), chapter.heading


def test_chapters_of_which_a_run_is_kept_answer_from_some_run():
    answering = {heading for run in RUNS for heading, sentences in answers(run).items() if sentences}
    kept = {name for run in RUNS for name in records(run)}
    silent = {chapter.heading for chapter in chapters() if chapter.answer and kept & {*chapter.tables}} - answering
    assert silent <= {"What a metric costs", "Byte by byte", "Do models of equal loss leak alike?"}
    assert answering


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_a_study_stands_in_a_chapter(name):
    shown = {claim for chapter in chapters() for claim in chapter.claims}
    if (studies.FOLDER / name / "claims.py").is_file():
        for claim in import_by_name(f"studies.{name}.claims").CLAIMS:
            assert {claim.id, claim.chapter} & shown, claim.id
