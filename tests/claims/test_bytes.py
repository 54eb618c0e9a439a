"""Scores by target byte, against pandas and against a bootstrap drawn by hand."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from oversmoothing.claims.bytes import by_frequency, of_bytes, share_higher, sum_by_byte
from oversmoothing.score_files import SCORES, ScoreRows
from oversmoothing.store.parquet import open_writer, write_table

WINDOWS, SCORED = 12, 30


def write(tmp_path, name, seed, shift, monkeypatch):
    monkeypatch.setattr(ScoreRows, "GROUP", 100)  # row groups that cut windows apart
    draw = np.random.default_rng(seed)
    path = tmp_path / f"{name}.parquet"
    with open_writer(path, SCORES, {}) as writer:
        rows = ScoreRows(writer)
        for window in range(WINDOWS):
            for truth in ("one", "other"):
                for decoding in ("pure", "greedy"):
                    rows.add(window, truth, decoding, draw.normal(shift, 1, SCORED).astype(np.float32))
        rows.flush()
    return path


@pytest.fixture
def windows(tmp_path):
    draw = np.random.default_rng(0)
    texts = [bytes(draw.choice([97, 98, 99, 100, 200], SCORED, p=[0.4, 0.3, 0.2, 0.08, 0.02])) for _ in range(WINDOWS)]
    path = tmp_path / "windows.parquet"
    write_table(path, pa.table({"window": range(WINDOWS), "scored": texts}), {})
    return path


def frame(scores, windows):
    texts = pd.read_parquet(windows).set_index("window").scored
    table = pd.read_parquet(scores).query("decoding == 'pure'")
    return table.assign(byte=[texts[w][p] for w, p in zip(table.window, table.position, strict=True)])


def test_sums_are_those_of_the_rows_at_each_byte(tmp_path, windows, monkeypatch):
    path = write(tmp_path, "a", 1, 0.0, monkeypatch)
    sums, expected = sum_by_byte(path, windows), frame(path, windows)
    assert sorted(sums) == sorted(expected.byte.unique())
    for byte, own in expected.groupby("byte"):
        count, total, _ = sums[byte].arrays()
        assert count.sum() == len(own)
        assert sums[byte].origin + total.sum() / count.sum() == pytest.approx(own.value.mean())
    assert by_frequency(sums) == list(expected.byte.value_counts().index)
    both = of_bytes(sums, [97, 98])
    own = expected[expected.byte.isin([97, 98])].value
    assert sum(both.count.values()) == len(own)
    assert both.origin + sum(both.total.values()) / len(own) == pytest.approx(own.mean())


def test_share_of_bytes_against_windows_glued_together(tmp_path, windows, monkeypatch):
    paths = [write(tmp_path, name, seed, shift, monkeypatch) for name, seed, shift in (("a", 1, 0.1), ("b", 2, 0.0))]
    tables = [frame(path, windows) for path in paths]
    sums = [sum_by_byte(path, windows) for path in paths]

    def share(drawn, margin):
        a, b = (
            pd.concat([table[table.window == window] for window in drawn]).groupby("byte").value.mean()
            for table in tables
        )
        return (a - b > margin * np.maximum(a.abs(), b.abs())).mean()

    draws = np.random.default_rng([3, WINDOWS]).integers(0, WINDOWS, size=(40, WINDOWS))
    low = np.quantile([share(draw, 0.2) for draw in draws], 0.025)
    high = np.quantile([share(draw, -0.2) for draw in draws], 0.975)
    assert share_higher(*sums, 0.2, 40, 3) == pytest.approx((share(range(WINDOWS), 0.0), low, high))
    assert low < high
