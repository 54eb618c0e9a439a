"""Values paired by seed, their means, and pages by a pivot, on numbers worked by hand."""

import math

import pandas as pd
import pytest

from oversmoothing.numerics.statistics import student_interval
from oversmoothing.tables.contrasts import at, means, paired
from oversmoothing.tables.page import pivot
from oversmoothing.tables.record import chosen, record


@pytest.fixture
def values():
    rows = [(4, None, 1, 0.5), (4, None, 2, 0.7), (8, None, 2, 0.4), (8, None, 1, 0.3), (4, "truth", 1, 0.1)]
    return pd.DataFrame(rows, columns=["rank", "truth", "seed", "value"])


def test_values_are_paired_by_seed_and_all_other_keys(values):
    differences = paired(chosen(values, rank=4), at(values, rank=8), "rank 8")
    assert differences.value.tolist() == pytest.approx([0.2, 0.3])  # the truth has no partner
    (row,) = record(means(differences)).to_dict("records")
    assert (row["value"], row["low"], row["high"]) == pytest.approx(student_interval([0.2, 0.3]))
    assert (row["rank"], row["less"], row["n"]) == (4, "rank 8", 2)
    assert pd.isna(row["truth"])


def test_what_one_seed_lacks_has_no_mean(values):
    values.loc[0, "value"] = math.nan
    assert means(values).fillna({"truth": ""}).set_index(["rank", "truth"]).n.to_dict() == {(8, ""): 2, (4, "truth"): 1}


def test_a_page_is_a_pivot_of_a_record(values):
    columns = {"against": {"truth": "truth"}, "own": {"truth": None}, "none": {"truth": "other"}}
    rows = pivot(record(means(values)), ["rank"], columns, decimals=2)
    assert [[*row] for row in rows] == [["rank", "against", "own"]] * 2
    assert [row["rank"] for row in rows] == ["4", "8"]
    assert rows[0]["against"].mean == 0.1
    assert rows[1]["against"] is None
    assert (rows[1]["own"].mean, rows[1]["own"].decimals) == (pytest.approx(0.35), 2)
    assert str(pivot(record(means(values)).drop(columns="seed"), ["rank"], columns, decimals=2)) == str(rows)
