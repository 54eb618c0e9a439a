"""The one schema of tables."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from oversmoothing.jobs import UserError
from oversmoothing.tables.compare import compare
from oversmoothing.tables.formats import write_record
from oversmoothing.tables.page import Page, Section
from oversmoothing.tables.record import SCHEMA, read_record, record


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


def test_a_table_with_a_column_that_has_gone_is_refused_by_name_and_else_left_out_of_comparisons(tmp_path):
    for folder in ("a", "b"):
        write(record([{"model": "7", "measure": "tto", "value": 0.1}]), tmp_path / folder / "tables/sizes.csv")
        rows = "table,measure,symbols,value\nrepeated,loss,256,0.1\nrepeated,loss,512,0.1\n"
        (tmp_path / folder / "tables/repeated.csv").write_text(rows)
    assert set(compare(tmp_path / "a", tmp_path / "b")) == {"sizes"}
    with pytest.raises(UserError, match=r"repeated.csv: its column `symbols` has gone .* read it with version 0.5"):
        compare(tmp_path / "a", tmp_path / "b", ["repeated"])
