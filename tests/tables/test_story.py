"""Stories: their parts, legends of tables and captions of the report."""

import pytest
from jinja2 import UndefinedError

from oversmoothing.jobs import UserError
from oversmoothing.tables.story import caption, legend, read_story

TEXT = """---
after: Oversmoothing
---

# What is asked

## Question

One *line*
goes on.

Another.

## Table some, more

What it shows of each {{ unit }}: `k_1`, q* and A | B.

Means over {{ n }} positions{% if n > 1 %}, several{% endif %}.

## Figure drawn

First.

Second.
"""


@pytest.fixture
def story(tmp_path):
    path = tmp_path / "story.md"
    path.write_text(TEXT)
    return path


def test_a_story_has_options_a_heading_and_parts(story):
    read = read_story(story)
    assert (read.options, read.heading) == ({"after": "Oversmoothing"}, "What is asked")
    assert read.parts["Question"] == "One *line*\ngoes on.\n\nAnother."
    assert list(read.told("Table")) == ["some", "more"]
    assert read.told("Figure") == {"drawn": "First.\n\nSecond."}


def test_a_legend_is_one_sentence_of_a_page_with_values(story):
    (words,) = legend(str(story.with_name("table.py")), "some", unit="byte", n=1024)
    assert words == "What it shows of each byte: `k_1`, q* and A | B. Means over 1,024 positions, several"
    with pytest.raises(UndefinedError):
        legend(str(story.with_name("table.py")), "some", unit="byte")


def test_a_caption_is_what_is_known_before_the_run_in_restructured_text(story):
    read = read_story(story)
    assert caption("Table", "more", [read], unit="byte") == "What it shows of each byte: ``k_1``, q\\* and A \\| B.\n"
    assert caption("Figure", "drawn_1.5", [read]) == caption("Figure", "drawn", [read]) == "First.\n\nSecond.\n"


def test_what_no_story_tells_is_named(story):
    for kind, name in (("Table", "none"), ("Table", "some_2"), ("Figure", "some")):
        with pytest.raises(
            UserError, match=f"no story tells of the {kind.lower()} {name}; add a part `## {kind} {name}`"
        ):
            caption(kind, name, [read_story(story)], unit="byte")


def test_a_story_without_a_heading_is_refused(tmp_path):
    path = tmp_path / "story.md"
    path.write_text("## Question\n\nWhy?\n")
    with pytest.raises(UserError, match=r"story.md: has no heading"):
        read_story(path)
