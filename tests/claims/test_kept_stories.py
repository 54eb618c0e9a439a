"""Each chapter over the tables that are kept: sentences with numbers, and nothing that a template left behind."""

import re

import pytest
from kept_runs import NO_RECORDS, RUNS, STUDIES, tables

from oversmoothing.claims.story.chapters import CHAPTERS, answered, of_studies
from oversmoothing.jobs import import_by_name
from plan import studies

NAMES = [name for name in studies.there() if (studies.FOLDER / name / "story.md").is_file()]
LEFT = re.compile(r"[{}]|\bnan\b|\bNone\b|\binf\b|[Uu]ndefined")


def chapters():
    return [*CHAPTERS, *of_studies(NAMES)]


@pytest.mark.parametrize("run", RUNS, ids=lambda path: str(path.relative_to(STUDIES)))
def test_every_chapter_answers_from_what_a_run_has(run):
    kept = {name: table for name, table in tables(run).items() if name not in NO_RECORDS}
    for chapter in chapters():
        sentences = answered(chapter, kept.get)
        for sentence in sentences:
            assert not LEFT.search(sentence), (chapter.heading, sentence)
            assert sentence[0].isupper()
            assert sentence.endswith(".")
        named = [name for name in chapter.tables if re.search(rf"\b{name} \|", chapter.answer)]
        if any(name in kept for name in named):
            assert re.search(r"\d", " ".join(sentences)), chapter.heading


def test_most_chapters_answer_from_some_run():
    answers = {chapter.heading for run in RUNS for chapter in chapters() if answered(chapter, tables(run).get)}
    silent = {chapter.heading for chapter in chapters() if chapter.answer} - answers
    assert silent <= {"What a metric costs", "Byte by byte", "Do models of equal loss leak alike?"}


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_of_a_study_stands_in_a_chapter(name):
    shown = {claim for chapter in chapters() for claim in chapter.claims}
    if (studies.FOLDER / name / "claims.py").is_file():
        for claim in import_by_name(f"studies.{name}.claims").CLAIMS:
            assert {claim.id, claim.chapter} & shown, claim.id
