"""Table 3.1 and Figure 3.1, from histories and logits; losses of models over tokens, against sums by hand."""

import math
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from step_jobs import job, outputs, write_logits

import losses_figure
import losses_table
from oversmoothing.numerics.statistics import summarise
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.losses import predictions, token_losses
from oversmoothing.tables.record import read_record

HISTORY = pa.table({"step": [0, 10, 20], "train_loss": [None, 3.0, 2.0], "validation_loss": [5.5, 2.5, 2.75]})


@pytest.fixture
def folder(tmp_path):
    """Two windows of four bytes, of which the most probable one is right five times in eight."""
    write_table(tmp_path / "bn4-s1/history.parquet", HISTORY, {})
    target = np.array([3, 5, 0, 7])
    right = {0: [1, 1, 1, 1], 1: [1, 0, 0, 0]}
    logits = {window: np.eye(8)[np.where(each, target, (target + 1) % 8)] for window, each in right.items()}
    write_logits(tmp_path / "bn4-s1.parquet", logits, dict.fromkeys(right, target))
    shutil.copy(tmp_path / "bn4-s1.parquet", tmp_path / "mine.parquet")
    return tmp_path


def test_accuracy_counts_right_bytes_and_its_interval_is_over_windows(folder):
    summary = summarise(predictions(folder / "bn4-s1.parquet").right, resamples=500, seed=1)
    assert (summary.mean, summary.n) == (5 / 8, 8)
    assert summary.sd == pytest.approx(np.std([1, 1, 1, 1, 1, 0, 0, 0], ddof=1))
    assert (summary.low, summary.high) == (0.25, 1.0)


def test_the_table_sets_the_thesis_beside_ours(folder):
    pd.DataFrame({"model": ["4"] * 2, "metric": ["validation_loss", "accuracy"], "mean": [1.776, 0.572]}).to_csv(
        folder / "published.csv", index=False
    )
    models = [
        {"model": "bn4-s1", "rank": 4, "seed": 1, "published_as": "4", "differs": ["scale"]},
        {"model": "mine", "rank": None, "seed": None, "published_as": None, "differs": []},
    ]
    output = outputs(folder)
    logits = [folder / "bn4-s1.parquet", folder / "mine.parquet"]
    inputs = {"histories": [folder / "bn4-s1/history.parquet"], "logits": logits}
    settings = {"models": models, "unit": "byte", "resamples": 100, "seed": 1}
    losses_table.main(job(inputs | {"published": folder / "published.csv"}, output, settings))
    table = read_record(output.csv).set_index(["model", "measure"])
    assert table.value.to_dict() == {
        ("bn4-s1", "validation_loss"): 2.5,
        ("bn4-s1", "accuracy"): 0.625,
        ("mine", "accuracy"): 0.625,
    }
    assert table.loc[("bn4-s1", "accuracy"), "published"] == 0.572
    rows = [line.split("|")[1:-1] for line in output.markdown.read_text().splitlines() if line.startswith("| ")]
    assert [cell.strip() for cell in rows[1]][:3] == ["4", "2.500", "1.776"]
    assert [cell.strip() for cell in rows[2]][:3] == ["mine", "-", "-"]


def test_the_figure_has_a_line_for_each_model_and_loss():
    history = HISTORY.to_pandas()
    models = [
        {"model": "bn4-s1", "kind": "family", "rank": 4},
        {"model": "bn4-s2", "kind": "family", "rank": 4},
        {"model": "truth", "kind": "truth", "rank": None},
    ]
    figure = losses_figure.draw({model["model"]: history for model in models}, models, ["truth"], "byte")
    for axes in figure.axes:  # without the loss before the first step
        assert [len(line.get_xdata()) for line in axes.lines if len(line.get_xdata())] == [2] * 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["truth", "rank 4"]


# Window, its text, its tokens and the probability of each: the texts have other numbers of bytes than of tokens.
WINDOWS = [
    (3, "Äpfel und", [0, 4, 2], [0.5, 0.25, 0.125]),
    (1, "a", [1], [0.75]),
    (8, "the end of it", [4, 3], [0.0625, 0.5]),
]


@pytest.fixture
def scored(tmp_path):
    """The losses from logits, shifted by a constant each, and the windows, in another order and one not scored."""
    logits = {}
    for window, _, targets, right in WINDOWS:
        p = np.full((len(targets), 5), (1 - np.array(right)[:, None]) / 4)
        p[np.arange(len(targets)), targets] = right
        logits[window] = (np.log(p) + np.arange(len(targets))[:, None]).astype(np.float32)
    path = write_logits(tmp_path / "logits.parquet", logits, {window: targets for window, _, targets, _ in WINDOWS})
    texts = sorted([(window, text.encode()) for window, text, *_ in [*WINDOWS, (5, "not scored")]])
    windows, scored = zip(*texts, strict=True)
    columns = {"window": pa.array(windows, pa.int32()), "prompt": [b"before "] * len(texts), "scored": list(scored)}
    write_table(tmp_path / "windows.parquet", pa.table(columns), {})
    return predictions(path).losses, tmp_path / "windows.parquet"


def test_losses_are_nats_over_tokens_and_over_bytes(scored):
    """The probabilities are powers of 2 but one, and the bytes are those of the scored text: 10 + 1 + 13."""
    losses = token_losses(*scored, resamples=50, seed=1)
    nats = (1 + 2 + 3 + 4 + 1) * math.log(2) + math.log(4 / 3)
    assert losses["loss"].mean == pytest.approx(nats / 6, abs=1e-6)
    assert losses["loss_per_byte"].mean == pytest.approx(nats / 24, abs=1e-6)
    each = [-math.log(p) for *_, right in WINDOWS for p in right]
    assert losses["loss"].sd == pytest.approx(np.std(each, ddof=1), abs=1e-6)
    assert losses["loss"].n == 6
    assert math.isnan(losses["loss_per_byte"].sd)
    assert losses["loss_per_byte"].n == 24


def test_the_interval_of_a_loss_per_byte_is_of_a_ratio_over_windows(scored):
    """One resample in 27 is of one window three times, so the interval ends at the ratios of single windows."""
    interval = token_losses(*scored, resamples=2000, seed=2)["loss_per_byte"]
    ratios = [sum(-math.log(p) for p in right) / len(text.encode()) for _, text, _, right in WINDOWS]
    assert interval.low == pytest.approx(min(ratios), abs=1e-6)
    assert interval.high == pytest.approx(max(ratios), abs=1e-6)
