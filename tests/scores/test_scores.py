"""Scoring: model and truth side by side, window by window."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from made_scores import DECODINGS, write_scores
from step_jobs import write_logits

from oversmoothing.jobs import UserError
from oversmoothing.models.logit_files import WindowLogits, read_logits
from oversmoothing.models.on_gpu import to_gpu
from oversmoothing.scores.catalogue.metrics import OF_DISTRIBUTIONS
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.files import SCORES, ScoreRows
from oversmoothing.scores.metrics import score_window
from oversmoothing.scores.sums import mean_brackets, pure_means, summarise_scores

V = 256


def random_logits(path, seed, windows=(0, 1, 2), v=V):
    return write_logits(
        path, dict(zip(windows, np.random.default_rng(seed).normal(0, 3, (len(windows), 5, v)), strict=True))
    )


@pytest.fixture
def model(tmp_path):
    return random_logits(tmp_path / "bn4.parquet", 1)


@pytest.mark.parametrize("v", [V, 5000])
@pytest.mark.parametrize(
    "device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
)
def test_pytorch_scores_as_numpy_does(device, v):
    draw = np.random.default_rng(v)
    model, truth = 3 * draw.normal(size=(2, 5, v)).astype(np.float32)
    window = WindowLogits(0, model, {"truth": truth})
    decoders = {entry["name"]: decoder(entry) for entry in DECODINGS}
    expected = score_window(window, decoders, OF_DISTRIBUTIONS, 0.9)["truth"]
    place = to_gpu(device) or torch.from_numpy
    values = score_window(window, decoders, OF_DISTRIBUTIONS, 0.9, place)["truth"]
    for metric in OF_DISTRIBUTIONS:
        for name in decoders:
            assert values[metric][name].dtype == np.float32
            np.testing.assert_allclose(values[metric][name], expected[metric][name], atol=2e-6, rtol=2e-6)


def test_rows_come_out_in_groups_with_their_keys(tmp_path, monkeypatch):
    monkeypatch.setattr(ScoreRows, "GROUP", 8)
    scores = [row for i in range(4) for row in ((i, "truth", "pure", range(5)), (i, None, "top-k", np.ones(5)))]
    path = write_scores(tmp_path / "tto.parquet", scores)
    assert pq.read_metadata(path).num_row_groups == 4
    frame = pd.read_parquet(path)
    assert len(frame) == 40
    assert frame[frame.decoding == "pure"].truth.unique().tolist() == ["truth"]
    assert frame[frame.decoding == "top-k"].truth.isna().all()
    assert frame[(frame.window == 2) & (frame.decoding == "pure")].value.tolist() == [0, 1, 2, 3, 4]


def test_the_width_of_brackets_is_by_decoding_and_scores_without_them_have_none(tmp_path):
    high, undecided = np.array([0.5, 0.5]), np.array([1, 0], np.int32)
    scores = [
        (0, None, decoding, high - width / 2, high - width, high, undecided)
        for decoding, width in (("pure", 0.2), ("greedy", 0.0), ("pure", 0.4))
    ]
    more = {"low": pa.float64(), "high": pa.float64(), "undecided": pa.int32()}
    path = write_scores(tmp_path / "tbat.parquet", scores, pa.schema([*SCORES, *more.items()]))
    assert mean_brackets(path) == pytest.approx({"pure": 0.3, "greedy": 0.0})
    assert mean_brackets(write_scores(tmp_path / "tto.parquet", [(0, "truth", "pure", np.ones(5))])) == {}


def test_summaries_by_truth_and_of_all_truths_together(tmp_path):
    levels = {("one", "pure"): (0, 1, 2), ("two", "pure"): (4, 5, 6), ("one", "greedy"): (0, 0, 0)}
    scores = [(i, *key, [level] * 2) for key, of_windows in levels.items() for i, level in enumerate(of_windows)]
    (tmp_path / "tto").mkdir()
    path = write_scores(tmp_path / "tto/bn4.parquet", scores)
    facts = {"model": "bn4", "measure": "tto", "n": 6}
    assert list(pure_means([path])) == [facts | {"truth": "one", "value": 1.0}, facts | {"truth": "two", "value": 5.0}]
    apart = summarise_scores(path, ["pure"], 100, 1)
    assert {key: (value.mean, value.n) for key, value in apart.items()} == {
        ("one", "pure"): (1.0, 6),
        ("two", "pure"): (5.0, 6),
    }
    pooled = summarise_scores(path, ["pure"], 100, 1, pooled="all")
    assert {key: (value.mean, value.n) for key, value in pooled.items()} == {("all", "pure"): (3.0, 12)}
    with pytest.raises(UserError, match="no scores under decoding 'top-k'"):
        summarise_scores(path, ["pure", "top-k"], 100, 1)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"windows": (0, 7, 2)}, r"other\.parquet: other windows than .*bn4\.parquet"),
        ({"windows": (0, 1)}, r"parquet: \d windows, where \d were expected"),
        ({"windows": (0, 1, 2, 3)}, r"parquet: \d windows, where \d were expected"),
        ({"v": 320}, r"other\.parquet: a vocabulary of 320, but .* has 256"),
    ],
)
def test_logits_that_do_not_fit_the_models_are_refused(tmp_path, model, other, says):
    with pytest.raises(UserError, match=says):
        list(read_logits(model, {"truth": random_logits(tmp_path / "other.parquet", 2, **other)}))
