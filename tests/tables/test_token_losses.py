"""Losses of models over tokens, per token and per byte, from files, against sums by hand."""

import math

import numpy as np
import pyarrow as pa
import pytest

from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.store.parquet import open_writer, vector_array, write_table
from oversmoothing.tables.losses import predictions, token_losses

# Window, its text, its tokens and the probability of each: the texts have other numbers of bytes than of tokens.
WINDOWS = [
    (3, "Äpfel und", [0, 4, 2], [0.5, 0.25, 0.125]),
    (1, "a", [1], [0.75]),
    (8, "the end of it", [4, 3], [0.0625, 0.5]),
]


@pytest.fixture
def scored(tmp_path):
    """The logits, shifted by a constant each, and the windows, in another order and with one that was not scored."""
    with open_writer(tmp_path / "logits.parquet", logits_schema(5), {}) as writer:
        for window, _, targets, right in WINDOWS:
            p = np.full((len(targets), 5), (1 - np.array(right)[:, None]) / 4)
            p[np.arange(len(targets)), targets] = right
            logits = np.log(p) + np.arange(len(targets))[:, None]
            columns = [*window_keys(window, np.array(targets)), vector_array(logits.astype(np.float32))]
            writer.write_batch(pa.record_batch(columns, schema=logits_schema(5)))
    texts = {window: text.encode() for window, text, *_ in [*WINDOWS, (5, "not scored", [], [])]}
    write_table(
        tmp_path / "windows.parquet",
        pa.table(
            {
                "window": pa.array(sorted(texts), pa.int32()),
                "prompt": pa.array([b"before "] * len(texts)),
                "scored": pa.array([texts[window] for window in sorted(texts)]),
            }
        ),
        {},
    )
    return predictions(tmp_path / "logits.parquet").losses, tmp_path / "windows.parquet"


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
