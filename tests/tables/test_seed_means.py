"""Rows of means over seeds: their numbers, and who gets the bold ones."""

import math
from itertools import product
from statistics import stdev

import pytest

from oversmoothing.tables.formats import markdown
from oversmoothing.tables.page import ONLY, SPREAD, Page, Section, Value, laid_out, with_seed_means

PUBLISHED = Value(0.4, 0.1)


def row(rank, seed, tto, **more):
    numbers = {"TTO ↓": Value(tto, 0.9, 0, 1, rivals="tto"), "published TTO": PUBLISHED}
    return {"rank": rank, "seed": seed, **numbers, **more}


def page(rows):
    return Page("Title", [Section("", rows)], ["First", "Second"])


def test_means_by_hand_stand_first_and_compete_with_each_other():
    rows = [row("4", "1", 0.3), row("16", "1", 0.2), row("4", "2", 0.4), row("16", "2", 0.26), row("truth", None, 0.1)]
    shown = with_seed_means(page(rows))
    (section,) = shown.sections
    assert [(cells["rank"], cells["seed"]) for cells in section.rows] == [
        *[("4", "mean of 2"), ("16", "mean of 2")],
        *[("4", "1"), ("16", "1"), ("4", "2"), ("16", "2"), ("truth", None)],
    ]
    mean = section.rows[1]["TTO ↓"]
    assert (mean.mean, mean.sd) == pytest.approx((0.23, stdev([0.2, 0.26])))
    assert mean.low is mean.high is None
    assert section.rows[0]["published TTO"] == PUBLISHED
    assert shown.legend == ["First", "Second", SPREAD + ONLY]
    assert "| 16     | mean of 2 | **0.230** ± 0.042            | 0.400 ± 0.100   |" in markdown(shown)
    assert markdown(shown).count("**") == 2


def test_one_seed_is_left_alone():
    rows = [row("4", "1", 0.3), row("16", "1", 0.2)]
    given = page([{name: cell for name, cell in cells.items() if name != "seed"} for cells in rows])
    assert with_seed_means(given) is given
    once = page([row("4", "1", 0.3), row("16", "2", 0.2)])
    assert with_seed_means(once) is once


def test_a_value_that_a_seed_lacks_has_no_mean():
    losses = (Value(math.nan), Value(1.0), None)
    rows = [row("4", str(seed), 0.2 + 0.1 * seed, loss=loss) for seed, loss in enumerate(losses, start=1)]
    (section,) = with_seed_means(page(rows)).sections
    assert section.rows[0]["TTO ↓"].mean == pytest.approx(0.4)
    assert section.rows[0]["loss"] is None
    plain = [{name: cell for name, cell in row.items() if name != "TTO ↓"} for row in rows]
    assert with_seed_means(page(plain)).legend[-1] == SPREAD
    (section,) = with_seed_means(page(rows[:2])).sections
    assert math.isnan(section.rows[0]["loss"].mean)


def test_rows_that_differ_in_more_than_the_seed_are_apart():
    rows = [row("4", seed, 0.1 * i, way=way) for i, (seed, way) in enumerate(product("12", "ab"))]
    (section,) = with_seed_means(page(rows)).sections
    assert [(cells["way"], round(cells["TTO ↓"].mean, 6)) for cells in section.rows[:2]] == [("a", 0.1), ("b", 0.2)]


@pytest.mark.parametrize(("aim", "best"), [(-math.inf, 1.0), (math.inf, 4.0), (2.9, 3.0)])
def test_the_best_of_each_group_of_rivals(aim, best):
    numbers = [Value(mean, rivals="a", aim=aim) for mean in (1.0, 3.0, 4.0, math.nan)]
    rows = [{"x": number, "y": Value(0.0), "z": Value(9.0, rivals="b")} for number in numbers]
    bold = [cell.mean for row in laid_out(Section("", rows)).rows for cell in row.values() if cell.bold]
    assert sorted(bold) == sorted([best, 9.0, 9.0, 9.0, 9.0])
