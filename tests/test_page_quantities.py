"""Answers, verdicts and counts of pages, by hand on small numbers; what their sources may hold."""

import ast
import re
from types import SimpleNamespace

import pytest

from oversmoothing.tables.quantities import Quantity
from pages import bytes as byte_view
from pages import expectations, findings, kept, lifting, replication
from schemas.describe import ROOT, SOURCES

TEMPLATES = sorted(path for path in SOURCES.rglob("*") if path.is_file())
ABOVE, BELOW, OPEN = (
    Quantity((low + high) / 2, {"low": low, "high": high, "p": p})
    for low, high, p in ((0.1, 0.3, 0.01), (-0.3, -0.1, 0.01), (-0.2, 0.3, 0.5))
)


@pytest.mark.parametrize(
    ("numbers", "above", "below", "within"),
    [
        ([ABOVE, ABOVE], "yes", "no", "yes"),
        ([BELOW], "no", "yes", "no"),
        ([ABOVE, OPEN], "open", "no", "open"),
        ([OPEN], "open", "open", "open"),
        ([ABOVE, BELOW], "no", "no", "no"),
    ],
)
def test_an_answer_is_open_unless_all_intervals_say_yes_or_one_says_no(numbers, above, below, within):
    assert expectations.is_above(numbers) == above
    assert expectations.is_below(numbers) == below
    assert expectations.is_within(numbers, 0, 0.4) == within


def test_that_none_is_lower_is_never_proved():
    assert expectations.is_shown_below([ABOVE, OPEN]) == "none shown"
    assert expectations.is_shown_below([ABOVE, BELOW]) == "some shown"
    low, high = -0.3, -0.1
    assert expectations.is_shown_below([Quantity(-0.2, {"low": low, "high": high, "p": 0.06})]) == "none shown"


VERDICT = {"verdict": "holds", "contrasts": 4, "decided_for": 4, "decided_against": 0}


@pytest.mark.parametrize(
    ("changed", "counted"),
    [
        ({}, "holds (4 of 4)"),
        (
            {"verdict": "contradicted", "decided_for": 1, "decided_against": 2},
            "contradicted (1 for, 2 against, of 4)",
        ),
        ({"verdict": "open", "decided_for": 0}, "open (0 of 4)"),
        ({"verdict": "depends on the truth"}, "depends on the truth"),
    ],
)
def test_a_verdict_says_how_many_comparisons_decide_it(changed, counted):
    assert replication.verdict_with_counts(VERDICT | changed) == counted


def test_the_least_certain_comparison_has_an_interval_or_a_reason():
    row = {"weakest": "rank 4", "effect": 0.012345, "low": 0.001, "high": 0.02, "note": "no seeds"}
    assert replication.least_certain(row) == "rank 4: 0.0123 [0.001, 0.02]"
    assert replication.least_certain({**row, "low": float("nan")}) == "rank 4: 0.0123"
    assert replication.least_certain({**row, "effect": float("nan")}) == "no seeds"


def test_a_range_of_numbers_of_one_sign_is_printed_without_it():
    assert byte_view.range_of([BELOW, BELOW.decrease.decrease]) == "0.200 to 0.200"
    assert byte_view.range_of([ABOVE, Quantity(0.5, {"low": 0.4, "high": 0.6})]) == "0.200 to 0.500"
    with pytest.raises(Exception, match="not true of its tables"):
        byte_view.range_of([ABOVE, BELOW])


def test_shares_of_what_rank_4_adds():
    run = SimpleNamespace(less_linear=lambda *_: -0.03, less_full=lambda *_: 0.12)
    assert lifting.share_taken(run, "plain") == pytest.approx(0.25)


def test_each_verdict_of_a_sentence_is_counted_once():
    assert sum(kept.verdicts.values()) == kept.number_of_sentences
    assert kept.number_of_sentences + replication.number_that_cannot_fail == sum(
        map(len, replication.sentences_by_chapter.values())
    )


def test_greedy_decoding_leaves_a_share_of_the_leak():
    left = findings.decoded_tto("truth", 4, "greedy") / findings.decoded_tto("truth", 4, "pure")
    assert findings.left_by_greedy("truth", 4) == left
    assert 0 < left < 1


@pytest.mark.parametrize("source", TEMPLATES, ids=lambda path: path.stem)
def test_a_source_computes_nothing(source):
    """Quantities are computed in `workflow/pages`; a source names them, prints them and guards its words."""
    text = re.sub(r"```[a-z]*\n.*?```", "", source.read_text(), flags=re.DOTALL)
    statements = re.findall(r"{%-?\s*(.*?)\s*-?%}", text, flags=re.DOTALL)
    known = r"do holds\(|for [\w, ]+ in \w+(\.items\(\))?$|endfor|if \w+(\(\"[\w-]+\"\))?$|else$|endif$"
    assert [of for of in statements if not re.match(known, of)] == []
    shown = re.findall(r"{{-?\s*(.*?)\s*-?}}", text, flags=re.DOTALL)
    arithmetic = re.compile(r" [-+*/~] |^-|\w=[^=]|kept\(|benchmark|published\.")
    assert [of for of in shown if arithmetic.search(of)] == []
    filters = {name for of in shown for name in re.findall(r"\| (\w+)", of)}
    assert filters <= {"digits", "percent", "rows", "cells", "join", "int", "length"}


def test_each_quantity_is_quoted_or_part_of_another():
    modules = [path.read_text() for path in ROOT.glob("workflow/pages/*.py")]
    sources = [" ".join(re.findall(r"{[{%].*?[%}]}", path.read_text(), flags=re.DOTALL)) for path in TEMPLATES]
    uses = re.findall(r"\w+", "\n".join(modules + sources))
    for node in (node for text in modules for node in ast.parse(text).body):
        names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        if isinstance(node, ast.Assign):
            names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        assert [name for name in names if uses.count(name) < 2] == []
