"""From windows to logits and hidden states, and to truncated heads, as files."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import head_logits as head_script
import logits as logits_script
from oversmoothing.jobs import UserError
from oversmoothing.models.inference import run_windows
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.weights import save_model
from oversmoothing.store.parquet import vectors, write_table

RANK = 6
CONFIG = GPTConfig(layers=2, heads=2, width=16, block=20, rank=RANK, positions="rotary")
DRAW = np.random.default_rng(0)
WINDOWS = pa.table(
    {
        "window": pa.array(range(5), pa.int32()),
        "prompt": [DRAW.bytes(8) for _ in range(5)],
        "scored": [DRAW.bytes(12) for _ in range(5)],
    }
)


@pytest.fixture(scope="module")
def model():
    return GPT(CONFIG, 3).eval()


def test_every_row_is_the_distribution_given_all_bytes_before_it(model):
    """One causal pass equals a pass of its own for each byte."""
    for state, row in zip(run_windows(model, WINDOWS, batch=2), WINDOWS.to_pylist(), strict=True):
        text = row["prompt"] + row["scored"]
        assert state.window == row["window"]
        assert bytes(state.target.astype(np.uint8)) == row["scored"]
        for position in range(12):
            before = torch.tensor([list(text[: 8 + position])])
            with torch.no_grad():
                expected = model(before)[0, -1]
            np.testing.assert_allclose(state.logits[position], expected, atol=2e-5)


def test_the_batch_size_changes_nothing_but_rounding(model):
    for one, other in zip(run_windows(model, WINDOWS, batch=1), run_windows(model, WINDOWS, batch=5), strict=True):
        np.testing.assert_allclose(one.logits, other.logits, atol=2e-5)
        np.testing.assert_allclose(one.post, other.post, atol=2e-5)


def test_a_window_longer_than_the_block_is_refused(model, tmp_path):
    save_model(tmp_path / "weights.safetensors", CONFIG, model.state_dict(), {})
    columns = {"window": pa.array([0], pa.int32()), "prompt": [b"x" * 21], "scored": [b"y"]}
    write_table(tmp_path / "windows.parquet", pa.table(columns), {})
    job = SimpleNamespace(
        input=SimpleNamespace(weights=tmp_path / "weights.safetensors", windows=tmp_path / "windows.parquet"),
        output=SimpleNamespace(logits=tmp_path / "logits.parquet", hidden=tmp_path / "hidden.parquet"),
        params=SimpleNamespace(settings={"batch": 2, "precision": "float32", "threads": 1}, device="cpu", shape=None),
        wildcards=SimpleNamespace(model="mine"),
    )
    with pytest.raises(UserError, match=r"a window has 22 bytes, and the block of mine is 20; shorten the windows, or"):
        logits_script.main(job)


@pytest.fixture(scope="module")
def files(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logits")
    save_model(folder / "weights.safetensors", CONFIG, model.state_dict(), {})
    write_table(folder / "windows.parquet", WINDOWS, {})
    job = SimpleNamespace(
        input=SimpleNamespace(weights=folder / "weights.safetensors", windows=folder / "windows.parquet"),
        output=SimpleNamespace(logits=folder / "logits.parquet", hidden=folder / "hidden.parquet"),
        params=SimpleNamespace(settings={"batch": 2, "precision": "float32", "threads": 1}, device="cpu", shape=None),
        wildcards=SimpleNamespace(model="bn6-s3"),
    )
    logits_script.main(job)
    return folder


def truncated(files, rank):
    path = files / f"svd{rank}.parquet"
    head_script.main(
        SimpleNamespace(
            input=SimpleNamespace(weights=files / "weights.safetensors", hidden=files / "hidden.parquet"),
            output=SimpleNamespace(logits=path),
            params=SimpleNamespace(rank=rank, states=None),
            wildcards=SimpleNamespace(model=f"svd{rank}-s3"),
        )
    )
    return pq.read_table(path)


def rows(table, column):
    return vectors(table[column].combine_chunks())


def test_files_have_one_row_group_per_window_and_the_contracts_columns(files):
    for name, columns in (("logits", ["logits"]), ("hidden", ["pre", "post"])):
        metadata = pq.read_metadata(files / f"{name}.parquet")
        assert metadata.num_row_groups == 5
        table = pq.read_table(files / f"{name}.parquet")
        assert table.column_names == ["window", "position", "target", *columns]
        assert table["position"].to_pylist() == list(range(12)) * 5
        assert table.schema.metadata[b"model"] == b"bn6-s3"
        assert table.schema.metadata[b"precision"] == b"float32"
        for i in range(3, 3 + len(columns)):
            assert "BYTE_STREAM_SPLIT" in metadata.row_group(0).column(i).encodings


def test_the_hidden_states_are_one_matrix_product_from_the_logits(files, model):
    hidden, logits = pq.read_table(files / "hidden.parquet"), pq.read_table(files / "logits.parquet")
    head = model.head.weight.detach().numpy()
    np.testing.assert_allclose(rows(hidden, "post") @ head.T, rows(logits, "logits"), atol=1e-6)
    assert rows(hidden, "pre").shape == (60, 16)


@pytest.mark.parametrize("rank", [RANK, 256])
def test_truncation_at_full_rank_gives_the_full_model(files, rank):
    expected = rows(pq.read_table(files / "logits.parquet"), "logits")
    np.testing.assert_allclose(rows(truncated(files, rank), "logits"), expected, atol=1e-6)


def test_truncated_logits_have_the_rank_of_the_head(files):
    singular = np.linalg.svd(rows(truncated(files, 2), "logits").astype(float), compute_uv=False)
    assert (singular > 1e-5 * singular[0]).sum() == 2
