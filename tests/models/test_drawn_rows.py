"""Rows drawn over all windows, and read from the row groups that hold them."""

import numpy as np
import pytest
from step_jobs import write_logits

from oversmoothing.jobs import UserError
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.logits import logits_schema
from oversmoothing.store.parquet import open_writer

V, SIZES = 4, (3, 40, 1, 106)


@pytest.fixture
def file(tmp_path):
    """150 rows in row groups of unequal size; the first logit of a row is its number."""
    logits = np.split(np.arange(150)[:, None] + np.zeros(V), np.cumsum(SIZES)[:-1])
    return write_logits(tmp_path / "m.parquet", dict(enumerate(logits)))


def test_rows_are_drawn_once_each_in_order_by_the_seed(file):
    rows = draw_rows(file, 64, 7)
    assert len(rows) == 64
    assert (np.diff(rows) > 0).all()
    assert set(rows) <= set(range(150))
    np.testing.assert_array_equal(rows, draw_rows(file, 64, 7))
    assert not np.array_equal(rows, draw_rows(file, 64, 8))


@pytest.mark.parametrize("count", [150, 1024])
def test_all_rows_where_there_are_no_more(file, count):
    np.testing.assert_array_equal(draw_rows(file, count, 0), np.arange(150))


@pytest.mark.parametrize("rows", [[0], [149], [2, 3], [0, 42, 43, 44, 149], range(150)])
def test_reads_the_rows_asked_for(file, rows):
    read = read_rows(file, ["logits"], np.array(rows))
    np.testing.assert_array_equal(read["logits"][:, 0], rows)
    np.testing.assert_array_equal(read["window"], np.repeat(range(4), SIZES)[list(rows)])
    assert read["position"].tolist() == [np.concatenate([np.arange(n) for n in SIZES])[row] for row in rows]


def test_a_file_that_is_too_short_or_empty_is_named(file, tmp_path):
    with pytest.raises(UserError, match=r"m\.parquet: 150 positions, where row 150 was asked for"):
        read_rows(file, ["logits"], np.array([2, 150]))
    with open_writer(tmp_path / "empty.parquet", logits_schema(V), {}):
        pass
    with pytest.raises(UserError, match=r"empty\.parquet: no rows"):
        draw_rows(tmp_path / "empty.parquet", 3, 1)
