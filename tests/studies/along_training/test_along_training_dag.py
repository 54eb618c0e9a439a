"""The table along training, as the workflow computes it at toy size."""

import pytest

from oversmoothing.tables.record import read_record


@pytest.fixture
def table(everything):
    return read_record(everything.folder / "results/tables/along_training.csv")


def test_what_the_head_forces_is_in_the_table_along_training(table):
    for model, rows in table.groupby("model"):
        steps = {measure: set(rows.step[rows.measure == measure]) for measure in ("loss", "forced", "rest")}
        assert steps["forced"] == steps["rest"] == steps["loss"], model
        last = rows[rows.step == rows.step.max()].set_index("measure").value
        assert last["forced"] > 0
        assert last["forced"] + last["rest"] == pytest.approx(last["kl"], rel=0.1)  # of most of its positions


def test_a_metric_that_is_added_is_followed(table):
    assert "brier" in set(table.measure)
