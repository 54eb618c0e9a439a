"""What norm and head force together, by hand."""

import pandas as pd
import pytest

from studies.real_head.table import sphere_rows


def test_bounds_and_shares_by_hand():
    """At the first position the free minimum is the better lower bound, at the second the ball proves the upper one."""
    values = pd.DataFrame(
        {
            "document": [0, 1],
            "kl": [1.0, 1.0],
            "forced": [0.1, 0.3],
            "gap": [0.0, 0.0],
            "norm_forced": [0.12, 0.36],
            "norm_gap": [0.03, 1e-7],
        }
    )
    rows = {row["measure"]: row for row in sphere_rows(values, {"text": "t", "truth": "all"}, 200, 0)}
    expected = {"kl": 1, "head": 0.2, "forced": 0.24, "least": 0.23, "adds": 0.04, "share": 0.24}
    expected |= {"added": 0.2, "proved": 0.5, "outside": 0.5}
    assert {f"norm_{name}" for name in expected} == set(rows)
    for name, value in expected.items():
        assert rows[f"norm_{name}"]["value"] == pytest.approx(value, abs=1e-6), name
    assert rows["norm_forced"]["low"] <= 0.24 <= rows["norm_forced"]["high"]


def test_a_head_that_forces_nothing_has_no_share_added():
    values = pd.DataFrame({"document": [0, 1], "kl": [1.0, 2.0], "forced": [1e-10, 0.0], "gap": [1e-10, 0.0]})
    values = values.assign(norm_forced=[1e-8, 0.0], norm_gap=[0.0, 0.0])
    rows = {row["measure"]: row["value"] for row in sphere_rows(values, {}, 200, 0)}
    assert "norm_added" not in rows
    assert rows["norm_head"] == 0
    assert rows["norm_forced"] == pytest.approx(5e-9)
