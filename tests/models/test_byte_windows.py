"""What a byte view reads of a window, and what its file of logits holds."""

import numpy as np
import pyarrow as pa
import pytest
from hub_models import write_token_model
from step_jobs import Files, job, write_splits

import byte_logits
from oversmoothing.data.windows import draw_windows
from oversmoothing.models.byte_windows import Reading, byte_rows, readings
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.models.logits import logits_schema
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import open_writer, write_table

TEXT = b"One sentence stands here. Another follows it. A third one ends the text. And a last one. " * 20
DATA = np.frombuffer(TEXT, np.uint8)


@pytest.mark.parametrize("context", [0, 7, 10**6])
def test_a_window_is_read_behind_the_bytes_before_it_if_it_has_any(context):
    windows = draw_windows(DATA, 4, 6, 9, 0)
    for reading, row in zip(readings(windows, DATA, context), windows.to_pylist(), strict=True):
        begins = max(0, row["offset"] - context)
        assert reading.text == TEXT[begins : row["offset"] + 15]
        assert (reading.window, reading.scored) == (row["window"], row["scored"])
        assert reading.text[: reading.start].endswith(row["prompt"])
    alone = windows.set_column(1, "offset", pa.array([-1] * 4, pa.int64()))
    for read in (readings(windows), readings(windows, None, context), readings(alone, DATA, context)):
        assert [reading.start for reading in read] == [6] * 4


def test_the_file_gives_back_the_distributions_and_nothing_where_they_are_nothing(tmp_path):
    p = np.random.default_rng(0).dirichlet(np.full(256, 0.05), 3)
    p[:, 200:] = 0
    p /= p.sum(axis=1, keepdims=True)
    dropped = np.array([0.0, 0.25, 1e-9])
    with open_writer(tmp_path / "view.parquet", logits_schema(256, special_mass=True), {}) as writer:
        writer.write_batch(byte_rows(Reading(5, b"promptabc", 6), p, dropped))
    ((keys, logits),) = logit_groups(tmp_path / "view.parquet", ["window", "position", "target", "special_mass"])
    assert keys["window"].to_pylist() == [5, 5, 5]
    assert bytes(keys["target"].to_pylist()) == b"abc"
    np.testing.assert_allclose(keys["special_mass"].to_numpy(), dropped, rtol=1e-6)
    assert np.isneginf(logits[:, 200:]).all()
    np.testing.assert_allclose(softmax(logits), p, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(np.exp(logits.astype(np.float64)).sum(axis=1), 1, rtol=1e-6)


def test_names_of_special_tokens_in_the_text_before_windows_are_told(tmp_path, monkeypatch, capsys):
    text = b"One sentence.</s>Another one stands here.</s>" * 20
    write_token_model(tmp_path / "large", "llama")
    windows = draw_windows(np.frombuffer(text, np.uint8), 1, 6, 9, 0)
    write_table(tmp_path / "windows.parquet", windows, {})
    monkeypatch.setattr(byte_logits, "asset_folder", lambda path: tmp_path / "large")
    read = write_splits(tmp_path, evaluation=text)
    inputs = {"asset": tmp_path / "large.json", "windows": tmp_path / "windows.parquet", **read}
    settings = {"context": 16, "temperature": 1.0, "bos": "auto", "batch": 4, "precision": "float32", "threads": 1}
    byte_logits.main(job(inputs, Files(logits=tmp_path / "logits.parquet"), settings, model="large"))
    said = "Note: the evaluation split, which large reads, has '</s>' 40 times: names of special tokens"
    assert said in capsys.readouterr().err
