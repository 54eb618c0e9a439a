"""From windows to logits and hidden states, and to truncated heads, as files."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from run_logits import run_logits
from step_jobs import job

import head_logits
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.inference import run_windows
from oversmoothing.models.model import GPT
from oversmoothing.store.parquet import vectors

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


@pytest.fixture(scope="module")
def files(model, tmp_path_factory):
    return run_logits(tmp_path_factory.mktemp("logits"), model, WINDOWS, "bn6-s3")


def matrix(path, column):
    return vectors(pq.read_table(path)[column].combine_chunks())


def truncated(files, rank):
    """Logits of the head truncated to a rank, by the step."""
    inputs = {"weights": files.logits.with_name("weights.safetensors"), "hidden": files.hidden}
    output = SimpleNamespace(logits=files.logits.with_name(f"svd{rank}.parquet"))
    step = job(inputs, output, model=f"svd{rank}-s3")
    step.params = SimpleNamespace(rank=rank, states=None)
    head_logits.main(step)
    return matrix(output.logits, "logits")


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


def test_a_window_longer_than_the_block_is_refused(model, tmp_path):
    long = pa.table({"window": pa.array([0], pa.int32()), "prompt": [b"x" * 21], "scored": [b"y"]})
    with pytest.raises(UserError, match=r"a window has 22 bytes, and the block of mine is 20; shorten the windows, or"):
        run_logits(tmp_path, model, long)


def test_files_have_one_row_group_per_window_and_the_contracts_columns(files):
    for path, columns in ((files.logits, ["logits"]), (files.hidden, ["pre", "post"])):
        metadata = pq.read_metadata(path)
        assert metadata.num_row_groups == 5
        table = pq.read_table(path)
        assert table.column_names == ["window", "position", "target", *columns]
        assert table["position"].to_pylist() == list(range(12)) * 5
        assert table.schema.metadata[b"model"] == b"bn6-s3"
        assert table.schema.metadata[b"precision"] == b"float32"
        for i in range(3, 3 + len(columns)):
            assert "BYTE_STREAM_SPLIT" in metadata.row_group(0).column(i).encodings
    assert matrix(files.hidden, "pre").shape == (60, 16)


def test_truncated_logits_have_the_rank_of_the_head_and_at_full_rank_are_the_models(files):
    for rank in (RANK, 256):
        np.testing.assert_allclose(truncated(files, rank), matrix(files.logits, "logits"), atol=1e-6)
    singular = np.linalg.svd(truncated(files, 2).astype(float), compute_uv=False)
    assert (singular > 1e-5 * singular[0]).sum() == 2
