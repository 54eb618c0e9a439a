"""TBAT scores from stored logits, and the scripts that write them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file
from step_jobs import job, outputs, write_logits

import measure as script
import tbat_approximation_table
from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import RejectSet, reject_set
from oversmoothing.jobs import UserError
from oversmoothing.measures.entries.tbat import bounds, full, mass
from oversmoothing.measures.files import read_windows
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logits import hidden_schema, window_keys
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer, vector_array
from oversmoothing.tables.record import read_record

DECODINGS = [{"name": "pure"}, {"name": "top-k", "k": 20}]
SETTINGS = {
    "delta": 0.2,
    "condition": "full",
    "mass_tolerance": 1e-9,
    "per_window": None,
    "windows": None,
    "decodings": DECODINGS,
}


@pytest.fixture
def model(tmp_path):
    """A head of rank 8 behind a LayerNorm, and its logits and hidden states over three windows."""
    generator = np.random.default_rng(1)
    weights, gain = generator.normal(size=(64, 8)).astype(np.float32), generator.uniform(0.5, 2, 8).astype(np.float32)
    config = {"rank": 8, "bottleneck_norm": "after"}
    save_file({"head.weight": weights, "norm.weight": gain}, tmp_path / "w.safetensors", {"config": json.dumps(config)})
    logits, schema = {}, hidden_schema(16, 8)
    with open_writer(tmp_path / "hidden.parquet", schema, {}) as hidden:
        for window in (0, 4, 5):
            z = generator.normal(size=(5, 8))
            post = (gain * (z - z.mean(1, keepdims=True)) / z.std(1, keepdims=True)).astype(np.float32)
            logits[window] = post @ weights.T
            rows = [*window_keys(window, np.zeros(5, int)), vector_array(np.zeros((5, 16))), vector_array(post)]
            hidden.write_batch(pa.record_batch(rows, schema=schema))
    write_logits(tmp_path / "logits.parquet", logits)
    return tmp_path


def tbat_job(folder, settings, hidden=None, measure="tbat"):
    inputs = {"weights": folder / "w.safetensors", "logits": folder / "logits.parquet", "hidden": hidden}
    return job(inputs, folder / "out.parquet", settings, {"measure": measure}, model="bn8")


def test_the_script_writes_the_mass_of_every_positions_set(model):
    script.main(tbat_job(model, SETTINGS))
    scores = pd.read_parquet(model / "out.parquet")
    assert scores.groupby(["window", "decoding"], observed=True).size().to_dict() == {
        (window, decoding): 5 for window in (0, 4, 5) for decoding in ("pure", "top-k")
    }
    assert scores.truth.isna().all()
    logits = np.stack(pd.read_parquet(model / "logits.parquet").logits.to_numpy()).astype(np.float64)
    expected = reject_set(full(read_model_head(model / "w.safetensors")), softmax(logits), 0.2).mass[0]
    pure = scores[scores.decoding == "pure"]
    np.testing.assert_allclose(pure.value, expected, rtol=1e-6)
    np.testing.assert_array_equal(pure.low, pure.high)
    assert (pure.undecided == 0).all()
    assert pure.value.max() > 0.01
    assert b"mass_tolerance" in pq.read_schema(model / "out.parquet").metadata[b"settings"]
    script.main(tbat_job(model, {**SETTINGS, "windows": 1}))
    middle = pd.read_parquet(model / "out.parquet")
    assert set(middle.window) == {4}
    np.testing.assert_array_equal(middle.value, scores[scores.window == 4].value)


def test_the_tangent_condition_takes_the_hidden_states_and_rejects_no_less(model):
    script.main(tbat_job(model, SETTINGS))
    full = pd.read_parquet(model / "out.parquet").value
    script.main(tbat_job(model, {**SETTINGS, "condition": "tangent"}, hidden=model / "hidden.parquet"))
    tangent = pd.read_parquet(model / "out.parquet").value
    assert (tangent >= full - 1e-7).all()
    assert (tangent > full + 1e-3).any()


def test_hidden_states_of_other_windows_are_refused(model):
    table = pq.read_table(model / "hidden.parquet")
    with open_writer(model / "hidden.parquet", table.schema, {}) as writer:
        writer.write_table(table.slice(0, 5))
    with pytest.raises(UserError, match=r"hidden\.parquet: other windows than .*logits\.parquet"):
        list(read_windows(model / "logits.parquet", {}, hidden=model / "hidden.parquet"))


def test_a_head_behind_a_linear_has_no_tangent_space(model):
    config = {"rank": 8, "bottleneck_norm": "before"}
    save_file({"head.weight": np.eye(8, 4, dtype=np.float32)}, model / "w.safetensors", {"config": json.dumps(config)})
    with pytest.raises(UserError, match=r"set `metrics\.tbat\.condition: full`"):
        script.main(tbat_job(model, {**SETTINGS, "condition": "tangent"}))


def test_too_much_undecided_mass_is_an_error_that_names_the_key(model, monkeypatch):
    """Here every token is called undecided: the bracket is wider than any tolerance below 1."""
    monkeypatch.setattr(
        "oversmoothing.measures.entries.tbat.reject_set",
        lambda basis, p, *_: RejectSet(p, np.zeros(p.shape, bool), np.ones(p.shape, bool)),
    )
    with pytest.raises(
        UserError, match=r"logits\.parquet: window 0: BAT left 64 tokens.*`metrics\.tbat\.mass_tolerance`, 1e-09"
    ):
        script.main(tbat_job(model, SETTINGS))
    assert not (model / "out.parquet").exists()


def test_a_tolerated_bracket_is_recorded_and_its_middle_is_the_score():
    generator = np.random.default_rng(0)
    basis = prepare(generator.normal(size=(64, 8)))
    p = softmax(generator.normal(size=(6, 64)))
    exact, score = bounds(basis, p, 0.2, 0.0), mass(basis, p, 0.2, 0.2, "here")
    assert score["undecided"].any()
    assert ((score["low"] <= exact["low"]) & (exact["high"] <= score["high"])).all()
    np.testing.assert_allclose(score["value"], (score["low"] + score["high"]) / 2, rtol=1e-6)


def test_the_shortcut_rejects_more_and_stands_beside_the_exact_mass(model):
    settings = {"delta": 0.2, "mass_tolerance": 1e-9, "approximations": [2, 4, 8, 99], "per_window": 3, "windows": None}
    script.main(tbat_job(model, settings, measure="tbat_approximation"))
    wide = pd.read_parquet(model / "out.parquet").pivot_table("value", ["window", "position"], "approximation")
    assert wide.columns.tolist() == [2, 4, 8]
    assert (wide.groupby("window").size() == 3).all()
    assert (wide[2] >= wide[4] - 1e-7).all()
    assert (wide[4] >= wide[8] - 1e-7).all()
    facts = {"model": "bn8", "rank": 8, "seed": 1, "published_as": "8", "differs": []}
    settings = {"models": [facts], "resamples": 100, "seed": 1}
    tbat_approximation_table.main(job({"scores": [model / "out.parquet"]}, outputs(model), settings))
    table = read_record(model / "t.csv").pivot(index="approximation", columns="measure", values="value")
    assert table.tbat_approximation.to_dict() == pytest.approx(wide.mean().to_dict(), rel=1e-5)
    assert table.excess[8] == 0
    assert table.excess[2] == pytest.approx((wide[2] - wide[8]).mean(), rel=1e-4)
    assert "**" not in (model / "t.md").read_text()
