"""The table of what a rank, the trained head, its norm and the rest contribute, from truths made for it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from oversmoothing.forced.projection import project
from oversmoothing.measures.best_head import beside_best
from oversmoothing.models.heads import ModelHead
from oversmoothing.store.parquet import write_table
from studies.forced_part import best_head
from studies.forced_part.best_head import BEST_HEAD_SCORES, chosen
from studies.forced_part.best_head_table import best_head_page, measures_table, summarise_best_head, sums_of


def truths(n, v, rank):
    rng = np.random.default_rng(rank)
    planted = rng.normal(size=(v, rank))
    p = np.exp(rng.normal(size=(n, rank)) @ planted.T)
    return p / p.sum(axis=1, keepdims=True), planted


def test_the_best_head_is_fitted_to_one_half_and_never_worse_there():
    p, planted = truths(80, 12, 3)
    fitted = np.arange(80) // 10 % 2 == 0
    trained = planted + 0.3 * np.random.default_rng(0).normal(size=planted.shape)
    free, best, gap = beside_best(ModelHead(trained), p, fitted).values()
    np.testing.assert_allclose(free, project(trained, p).forced, atol=1e-12)
    assert free.mean() > 0.01
    assert best.max() < 1e-6  # the planted head, also where it was not fitted
    assert gap.max() < 1e-8
    changed = p.copy()
    changed[~fitted] = changed[~fitted][:, ::-1]
    np.testing.assert_array_equal(beside_best(ModelHead(trained), changed, fitted)["best"][fitted], best[fitted])
    poor = np.random.default_rng(1).normal(size=(12, 2))
    free, best, _ = beside_best(ModelHead(poor), p, fitted).values()
    assert best[fitted].mean() < free[fitted].mean()


def test_the_parts_add_up_on_the_windows_that_were_not_fitted(tmp_path):
    parts, window = np.random.default_rng(3).random((4, 40)), np.repeat(np.arange(8), 5)
    sums = dict(zip(("best", "free", "forced", "kl"), np.cumsum(parts, axis=0), strict=True))
    keys = {"window": window, "position": np.tile(np.arange(5), 8), "truth": ["big"] * 40, "fitted": window % 2 == 0}
    rows = pa.table(keys | sums | {"gap": np.linspace(0, 1e-9, 40)})
    path = tmp_path / "bn4.parquet"
    write_table(path, rows.select(BEST_HEAD_SCORES.names).cast(BEST_HEAD_SCORES), {})
    found = summarise_best_head(*sums_of(path), 200, 1)
    held = window % 2 == 1
    for part, measure in enumerate(("rank", "head", "norm", "rest")):
        assert found["big", measure].mean == pytest.approx(parts[part][held].mean())
        assert found["big", measure].low < found["big", measure].mean < found["big", measure].high
    assert found["big", "kl"].mean == pytest.approx(parts[:, held].sum(axis=0).mean())
    assert found["big", "rank_fitted"].mean == pytest.approx(parts[0][~held].mean())
    assert found["big", "gap"].mean == 1e-9
    table = measures_table({"bn4": found}, [{"model": "bn4", "kind": "family", "rank": 4, "seed": 1}])
    assert set(table.measure) == {"kl", "rank", "head", "norm", "rest", "rank_fitted", "gap"}
    page = best_head_page(table)
    assert page.sections[0].rows[0]["by the rank, at most"].mean == pytest.approx(parts[0][held].mean())
    assert "20 positions" in page.legend[0]


def test_positions_are_evenly_spaced_ones_of_what_was_scored(monkeypatch):
    logits = np.random.default_rng(4).normal(size=(2, 10, 6)).astype(np.float32)
    keys = [pa.record_batch({"window": [w] * 10, "position": list(range(10))}) for w in (3, 5)]
    monkeypatch.setattr(best_head, "logit_groups", lambda path, columns: zip(keys, logits, strict=True))
    scored = pd.DataFrame({"window": np.repeat([3, 5], 5), "position": np.tile(np.arange(1, 10, 2), 2)})
    rows, p = chosen(scored, "truth.parquet", 2)
    assert rows.position.tolist() == [3, 7, 3, 7]
    assert rows.window.tolist() == [3, 3, 5, 5]
    expected = np.exp(logits[:, [3, 7]].reshape(4, 6).astype(float))
    np.testing.assert_allclose(p, expected / expected.sum(axis=1, keepdims=True))
