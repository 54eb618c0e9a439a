"""`scripts/measure.py` by hand: arguments in place of Snakemake, for any measure of the catalogue."""

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from scipy.special import log_softmax
from step_jobs import write_logits

import measure
from oversmoothing.measures.catalogue import measures

TARGETS = {0: [1, 2], 1: [0, 3]}


@pytest.fixture
def files(tmp_path):
    draw = np.random.default_rng(0)
    for name in ("model", "truth"):
        logits = {window: draw.normal(size=(2, 4)).astype(np.float32) for window in TARGETS}
        write_logits(tmp_path / f"{name}.parquet", logits, TARGETS)
    return tmp_path


def by_hand(name, files, *more):
    out = files / "out.parquet"
    measure.main(measure.by_hand([name, str(out), "--logits", str(files / "model.parquet"), *map(str, more)]))
    return pd.read_parquet(out)


def test_a_measure_of_the_text_is_written_position_by_position(files):
    found = by_hand("losses", files)
    logits = np.stack(pd.read_parquet(files / "model.parquet").logits.to_numpy()).astype(float)
    np.testing.assert_allclose(found.loss, -log_softmax(logits, axis=1)[np.arange(4), [1, 2, 0, 3]])
    assert found.columns.tolist() == ["window", "position", "loss", "bits", "bytes", "accuracy"]
    assert found.position.tolist() == [0, 1, 0, 1]


def test_settings_and_truths_are_arguments(files):
    truths = [part for name in ("a", "b") for part in ("--truth", f"{name}={files / 'truth.parquet'}")]
    pure, greedy = (by_hand("acceptance", files, *truths, *more) for more in ((), ("--decoding", '{"name": "greedy"}')))
    assert pure.truth.tolist() == ["a", "a", "b", "b"] * 2
    assert set(greedy.acceptance) <= {0, 1}
    assert not set(pure.acceptance) <= {0, 1}


def test_a_truth_without_a_name_is_one_line(files, capsys):
    with pytest.raises(SystemExit):
        by_hand("acceptance", files, "--truth", files / "truth.parquet")
    error = capsys.readouterr().err
    assert "truth.parquet' has no name; write NAME=" in error
    assert "Traceback" not in error


def test_help_says_which_files_and_settings_a_measure_takes(capsys):
    with pytest.raises(SystemExit):
        measure.by_hand(["forced", "--help"])
    shown = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')}" in shown for name in (*measures()["forced"].settings, "logits", "weights"))
    with pytest.raises(SystemExit):
        measure.by_hand(["--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("argmaxability", "ranks", "tbat", "side_by_side"))


def test_a_head_alone_needs_no_windows(tmp_path):
    weights = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32)
    save_file({"head.weight": weights}, tmp_path / "head.safetensors", {"head": "alone"})
    measure.main(measure.by_hand(["spectrum", f"{tmp_path}/out.parquet", "--weights", f"{tmp_path}/head.safetensors"]))
    found = pd.read_parquet(tmp_path / "out.parquet").singular_value
    np.testing.assert_allclose(found, np.linalg.svd(weights.astype(float), compute_uv=False))
