"""Sums by window and byte: by hand, and against pandas over many windows and row groups."""

import numpy as np
import pandas as pd
import pytest
from made_scores import write_scores
from step_jobs import job, write_logits

from oversmoothing.jobs import UserError
from oversmoothing.scores.files import ScoreRows
from studies.byte_by_byte import measure as step
from studies.byte_by_byte.measure import nsmd_by_window, sums_by_byte

V = 256


def write_nsmd(path, values, decodings=("pure",)):
    """Write values by window and truth; under other decodings than pure they are higher by 1."""
    scores = [
        (window, truth, decoding, np.asarray(own) + (decoding != "pure"))
        for window, by_truth in values.items()
        for truth, own in by_truth.items()
        for decoding in decodings
    ]
    return write_scores(path, scores)


def test_script_agrees_with_pandas_whatever_the_row_groups(tmp_path, monkeypatch):
    """Score files are cut anywhere, also in the middle of a window, and hold other decodings too."""
    monkeypatch.setattr(ScoreRows, "GROUP", 7)
    draw, windows, scored = np.random.default_rng(0), range(8), 12
    targets = {w: draw.integers(60, 70, scored) for w in windows}
    logits = {w: draw.integers(0, 9, (scored, V)) for w in windows}  # with ties, which go to the lowest byte
    values = {w: {t: draw.normal(size=scored) for t in ("t", "u")} for w in windows}
    model = write_logits(tmp_path / "m.parquet", logits, targets)
    scores = write_nsmd(tmp_path / "nsmd.parquet", values, ("pure", "greedy"))
    step.main(job({"logits": model, "nsmd": scores}, tmp_path / "out.parquet", model="m"))
    found = pd.read_parquet(tmp_path / "out.parquet").astype({"measure": str, "truth": object})

    text = pd.read_parquet(model).set_index(["window", "position"])
    pure = pd.read_parquet(scores).query("decoding == 'pure'").astype({"truth": object})
    joined = pure.join(text.target, on=["window", "position"])
    expected = joined.astype({"value": float}).groupby(["window", "truth", "target"]).value
    for measure, sums in (("nsmd", expected.sum()), ("nsmd_squares", expected.agg(lambda values: (values**2).sum()))):
        got = found[found.measure == measure].set_index(["window", "truth", "byte"]).value.sort_index()
        pd.testing.assert_series_equal(got, sums, check_names=False, check_index_type=False, rtol=1e-12)
    for measure, bytes_ in (("occurrences", text.target), ("argmaxes", text.logits.map(np.argmax))):
        got = found[found.measure == measure].set_index(["window", "byte"]).value
        assert got.to_dict() == bytes_.groupby("window").value_counts().to_dict()


def test_scores_without_pure_are_refused(tmp_path):
    scores = write_nsmd(tmp_path / "nsmd.parquet", {0: {"t": [1, 2]}}, ("greedy",))
    with pytest.raises(UserError, match=r"nsmd.parquet: no scores under decoding 'pure'; add it to `decodings`"):
        next(nsmd_by_window(scores))


@pytest.mark.parametrize(
    ("scored", "message"),
    [
        ({3: 3}, "other windows than .*m.parquet; delete both"),
        ({3: 2, 7: 3}, "other windows than .*m.parquet; delete both"),
        ({3: 3, 7: 3, 9: 3}, "more windows than"),
    ],
)
def test_scores_of_other_windows_are_refused(tmp_path, scored, message):
    model = write_logits(tmp_path / "m.parquet", {window: np.zeros((3, V)) for window in (3, 7)})
    scores = write_nsmd(tmp_path / "other.parquet", {window: {"t": [0] * n} for window, n in scored.items()})
    with pytest.raises(UserError, match=rf"other.parquet: {message}"):
        list(sums_by_byte(model, scores))


def test_logits_that_are_not_finite_are_refused(tmp_path):
    model = write_logits(tmp_path / "m.parquet", {0: np.full((1, V), np.nan)})
    with pytest.raises(UserError, match=r"m.parquet: window 0 has non-finite logits"):
        list(sums_by_byte(model))


def test_bytes_of_no_probability_are_never_the_most_probable(tmp_path):
    logits = np.full((2, V), -np.inf, np.float32)
    logits[0, 1], logits[1, V - 1] = -3, 0
    (rows,) = sums_by_byte(write_logits(tmp_path / "m.parquet", {0: logits}))
    found = rows.to_pylist()
    argmaxes = {row["byte"]: row["value"] for row in found if row["measure"] == "argmaxes"}
    assert argmaxes == {1: 1, V - 1: 1}
