"""The one schema of tables, and tables of earlier versions in it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from oversmoothing.tables.compare import compare
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section
from oversmoothing.tables.record import SCHEMA, read_record, record

OLD = Path(__file__).parents[1] / "old_tables"
NUMBERS = ["value", "sd", "low", "high", "bracket", "published", "published_sd", "published_low", "published_high"]
NO_RECORDS = {"claims", "gradient_claims", "rank_order"}
# What follows from other rows, or from the code, or is text.
LEFT_OUT = {"rank", "seed", "n", "step", "layer", "byte", "learning_rate", "dimensions", "context", "approximation"}
LEFT_OUT |= {"human", "published_human", "published_factor", "published_model"}


def write(table, path):
    """Write a record as CSV alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_record(SimpleNamespace(csv=path), table, Page("A page.", [Section("", [])], []))


def test_a_record_is_read_as_it_was_written(tmp_path):
    rows = [
        {"model": "7", "rank": 4, "measure": "tto", "value": 0.123456, "truth": "null", "published_model": "04"},
        {"model": "truth", "measure": "weights", "value": 123_456_789.0, "layer": 2, "note": "NA"},
        {"measure": "gap", "value": np.inf, "n": 10**12},
    ]
    table = record(rows)
    write(table, tmp_path / "sizes.csv")
    pd.testing.assert_frame_equal(read_record(tmp_path / "sizes.csv"), table.assign(table="sizes"))
    held = {name for name in SCHEMA if SCHEMA[name].always} | {"layer", "note", "published_model"}
    assert list(pd.read_csv(tmp_path / "sizes.csv")) == [name for name in SCHEMA if name in held]


def test_a_column_that_the_schema_does_not_know_is_refused():
    with pytest.raises(ValueError, match="not in the schema of the record: mean"):
        record([{"model": "bn4", "mean": 2.0}])


@pytest.mark.parametrize("path", sorted(OLD.glob("*.csv")), ids=lambda path: path.stem)
def test_no_number_of_an_old_table_is_lost(path, tmp_path):
    old = pd.read_csv(path)
    table = read_record(path)
    write(table, tmp_path / path.name)
    if path.stem in NO_RECORDS:
        assert table.empty
        return
    columns = old.select_dtypes("number").columns.difference(LEFT_OUT)
    assert set(old[columns].stack().dropna()) <= set(table[NUMBERS].stack().dropna())
    assert len(table) >= len(old)
    assert table.measure.notna().all()
    pd.testing.assert_frame_equal(read_record(tmp_path / path.name), table)


def test_old_and_new_tables_compare_in_both_orders(tmp_path):
    for path in OLD.glob("*.csv"):
        write(read_record(path), tmp_path / "new/tables" / path.name)
        (tmp_path / "old/tables").mkdir(parents=True, exist_ok=True)
        (tmp_path / "old/tables" / path.name).write_bytes(path.read_bytes())
    for one, other in (("old", "new"), ("new", "old")):
        compared = compare(tmp_path / one, tmp_path / other)
        assert set(compared) == {path.stem for path in OLD.glob("*.csv")} - NO_RECORDS
        for name, table in compared.items():
            assert table.only_in.isna().all(), name
            assert (table.difference.dropna() == 0).all(), name


@pytest.mark.parametrize(
    ("table", "keys", "expected"),
    [
        ("acceptance", {"model": "bn4-s1337", "decoding": "pure", "measure": "acceptance"}, {"value": 0.49477}),
        ("argmaxability", {"condition": "free", "measure": "undecided", "rank": 4}, {"value": 0}),
        ("argmaxability", {"condition": "free", "measure": "unlisted", "rank": 4}, {"published": 1}),
        ("bytes", {"class": 32, "measure": "occurrences"}, {"value": 24, "note": "SP"}),
        ("losses", {"model": "bn4-s1337", "measure": "accuracy"}, {"published": 0.572, "unit": "share of bytes"}),
        ("tbat_approximation", {"measure": "excess", "approximation": 4, "rank": 4}, {"value": 0, "high": 0}),
    ],
)
def test_old_rows_stand_under_their_keys(table, keys, expected):
    rows = read_record(OLD / f"{table}.csv")
    for key, value in keys.items():
        rows = rows[rows[key] == value]
    assert len(rows) == 1
    assert rows.iloc[0][list(expected)].to_dict() == expected
