"""Sums by window and byte: by hand, and against pandas over many windows and row groups."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_scores import write_scores
from step_jobs import job, write_logits

from oversmoothing.jobs import UserError
from oversmoothing.scores.files import ScoreRows
from studies.byte_by_byte import measure as step
from studies.byte_by_byte.measure import nsmd_by_window, sums_by_byte, window_sums

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


def one_hot(*most_probable):
    return np.eye(V, dtype=np.float32)[list(most_probable)]


@pytest.fixture
def by_hand(tmp_path):
    """Window 3 is "aab", window 7 is "bb "; the model says "abb" and "   "."""
    targets = {3: [*b"aab"], 7: [*b"bb "]}
    logits = {3: one_hot(*b"abb"), 7: one_hot(*b"   ")}
    values = {3: {"t": [0.5, 0.25, -0.5], "u": [0, 0, 1]}, 7: {"t": [0, 0, 0.125], "u": [1, 1, 1]}}
    return write_logits(tmp_path / "m.parquet", logits, targets), write_nsmd(tmp_path / "nsmd.parquet", values)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_sums_are_those_of_a_loop(seed, scored):
    draw = np.random.default_rng(seed)
    target, logits = draw.integers(0, 6, scored), draw.integers(0, 3, (scored, 6)).astype(np.float32)
    values = draw.normal(size=scored).astype(np.float32)
    sums = window_sums(target, logits, {"t": values})
    for byte in range(6):
        here = [i for i in range(scored) if target[i] == byte]
        first = [i for i in range(scored) if logits[i].tolist().index(max(logits[i].tolist())) == byte]
        assert sums["occurrences", None][byte] == len(here)
        assert sums["argmaxes", None][byte] == len(first)
        assert sums["nsmd", "t"][byte] == pytest.approx(sum(float(values[i]) for i in here))
        assert sums["nsmd_squares", "t"][byte] == pytest.approx(sum(float(values[i]) ** 2 for i in here))


def test_script_agrees_with_pandas_whatever_the_row_groups(tmp_path, monkeypatch):
    """Score files are cut anywhere, also in the middle of a window, and hold other decodings too."""
    monkeypatch.setattr(ScoreRows, "GROUP", 7)
    monkeypatch.setattr(step, "GROUP", 3)
    draw, windows, scored = np.random.default_rng(0), range(8), 12
    targets = {w: draw.integers(60, 70, scored) for w in windows}
    logits = {w: draw.normal(size=(scored, V)) for w in windows}
    values = {w: {t: draw.normal(size=scored) for t in ("t", "u")} for w in windows}
    model = write_logits(tmp_path / "m.parquet", logits, targets)
    scores = write_nsmd(tmp_path / "nsmd.parquet", values, ("pure", "greedy"))
    step.main(job({"logits": model, "nsmd": scores}, tmp_path / "out.parquet", model="m"))
    assert pq.read_metadata(tmp_path / "out.parquet").num_row_groups == 3
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
        list(nsmd_by_window(scores))


@pytest.mark.parametrize(
    ("scored", "message"),
    [
        ({3: 3}, "other windows than .*m.parquet; delete both"),
        ({3: 2, 7: 3}, "other windows than .*m.parquet; delete both"),
        ({4: 3}, "other windows than .*m.parquet; delete both"),
        ({3: 3, 7: 3, 9: 3}, "more windows than"),
    ],
)
def test_scores_of_other_windows_are_refused(by_hand, tmp_path, scored, message):
    scores = write_nsmd(tmp_path / "other.parquet", {window: {"t": [0] * n} for window, n in scored.items()})
    with pytest.raises(UserError, match=rf"other.parquet: {message}"):
        list(sums_by_byte(by_hand[0], scores))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_that_are_not_finite_are_refused(tmp_path, value):
    model = write_logits(tmp_path / "m.parquet", {0: np.full((1, V), value)})
    with pytest.raises(UserError, match=r"m.parquet: window 0 has non-finite logits"):
        list(sums_by_byte(model))


def test_bytes_of_no_probability_are_never_the_most_probable(tmp_path):
    logits = np.full((2, V), -np.inf, np.float32)
    logits[0, 1], logits[1, V - 1] = -3, 0
    (rows,) = sums_by_byte(write_logits(tmp_path / "m.parquet", {0: logits}))
    found = rows.to_pylist()
    argmaxes = {row["byte"]: row["value"] for row in found if row["measure"] == "argmaxes"}
    assert argmaxes == {1: 1, V - 1: 1}
