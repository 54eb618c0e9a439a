"""Files of logits over tokens: states and a head, from which every reader gets the logits of the model."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from run_logits import run_logits
from safetensors.torch import load_file, save_file
from step_jobs import write_logits

from oversmoothing.jobs import UserError
from oversmoothing.models import logit_files
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import (
    head_file,
    logit_groups,
    logits_column,
    rebuilt,
    save_head,
    state_array,
    states_batch,
    states_of,
    states_schema,
)
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.store.parquet import open_writer, read_table, vectors

V, D, SCORED = 300, 6, 5
CONFIG = GPTConfig(layers=1, heads=2, width=16, block=16, rank=D, vocabulary=V)
DRAW = np.random.default_rng(0)
PROMPTS, FOLLOWING = DRAW.integers(0, V, (4, 3)), DRAW.integers(0, V, (4, SCORED))
WINDOWS = pa.table(
    {
        "window": pa.array(range(4), pa.int32()),
        "prompt": [b"text"] * 4,
        "scored": [b"more"] * 4,
        "prompt_tokens": pa.array(PROMPTS.tolist(), pa.list_(pa.int32())),
        "scored_tokens": pa.array(FOLLOWING.tolist(), pa.list_(pa.int32())),
    }
)


def bf16(states):
    """Round as PyTorch does; return float32."""
    return torch.from_numpy(states).bfloat16().float().numpy()


def states(head, bias=None, windows=3, seed=1, mass=False):
    """Return the states of windows under a head, and their logits in float64."""
    draw = np.random.default_rng(seed)
    special = np.full(SCORED, 0.25, np.float32) if mass else None
    drawn = []
    for window in range(windows):
        post = draw.normal(0, 2, (SCORED, head.shape[1])).astype(np.float32)
        logits = post.astype(float) @ head.T.astype(float) + (0 if bias is None else bias)
        target = draw.integers(0, len(head), SCORED).astype(np.int32)
        drawn.append(WindowStates(window, target, logits, post, post, special))
    return drawn


def write(path, windows, precision="float32", head=None, bias=None):
    """Write a file of states and, if given, the head beside it; return its path."""
    schema = states_schema(windows[0].post.shape[1], precision, windows[0].special_mass is not None)
    with open_writer(path, schema, {}) as writer:
        for window in windows:
            writer.write_batch(states_batch(window, precision))
    if head is not None:
        save_head(head_file(path), head, bias, {})
    return path


def a_head(v=V, d=D, seed=5):
    return np.random.default_rng(seed).normal(0, 1, (v, d)).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    return GPT(CONFIG, 3).eval()


def test_the_script_stores_states_and_readers_see_the_models_logits(model, tmp_path):
    path = run_logits(tmp_path, model, WINDOWS, "own", "float32").logits
    assert logits_column(path)[0] == "state"
    assert pq.read_schema(path).names == ["window", "position", "target", "state"]
    assert head_file(path).name == "own.head.safetensors"
    assert pq.read_metadata(path).num_row_groups == 4
    expected = list(run_windows(model, WINDOWS, 3))
    for (keys, logits), state, following in zip(logit_groups(path), expected, FOLLOWING, strict=True):
        places = {"window": [state.window] * SCORED, "position": [*range(SCORED)], "target": following.tolist()}
        assert keys.to_pydict() == places
        assert (logits.shape, logits.dtype) == ((SCORED, V), np.float32)
        np.testing.assert_allclose(logits, state.logits, atol=2e-6)
    assert np.std([state.logits for state in expected]) > 0.02


def test_states_in_bf16_halve_the_file_and_bound_the_error(model, tmp_path):
    path = run_logits(tmp_path, model, WINDOWS, "half", "bf16").logits
    assert pq.read_schema(path).field("state").type == pa.list_(pa.uint16(), D)
    head = model.head.weight.detach().numpy()
    for (_, logits), state in zip(logit_groups(path), run_windows(model, WINDOWS, 3), strict=True):
        np.testing.assert_allclose(logits, bf16(state.post) @ head.T, atol=2e-6)
        bound = 2**-8 * np.abs(state.post) @ np.abs(head).T
        error = np.abs(logits - state.logits)
        assert (error <= bound + 2e-6).all()
        assert error.max() > 1e-5  # something was rounded


def test_rounding_to_bf16_is_to_the_nearest_and_ties_to_even():
    draw = np.random.default_rng(2)
    ties = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 0, -0.0, 3e38, 1e-40, 2**-130], np.float32)
    exact = np.concatenate([ties, draw.normal(0, 1, 600).astype(np.float32) * 10.0 ** draw.integers(-20, 20, 600)])
    exact = exact.astype(np.float32).reshape(-1, 8)
    column = state_array(exact, "bf16")
    assert np.array_equal(states_of(column).view(np.uint32), bf16(exact).view(np.uint32))
    assert np.array_equal(states_of(column.slice(3, 2)), bf16(exact)[3:5])
    assert np.array_equal(states_of(state_array(exact, "float32")), exact)


@pytest.mark.parametrize("rows", [1, 7, V, 8192])
def test_a_head_is_read_in_blocks_of_rows(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(logit_files, "ROWS", rows)
    head, bias = a_head(), DRAW.normal(0, 1, V).astype(np.float32)
    windows = states(head, bias)
    path = write(tmp_path / "l.parquet", windows, head=head, bias=bias)
    for (_, logits), state in zip(logit_groups(path), windows, strict=True):
        np.testing.assert_allclose(logits, state.logits, atol=1e-5)
        assert np.array_equal(logits.argmax(1), state.logits.argmax(1))


EXACT = np.array([[0.5, -1.25], [3.0, 2.0**-14]], np.float32)


@pytest.mark.parametrize(
    ("weight", "bias", "dtype"),
    [
        (EXACT, None, torch.float16),
        (EXACT + np.float32([2.0**-20, 0]), None, torch.float32),
        (EXACT * 100_000, None, torch.float32),  # infinite in float16
        (EXACT * 2.0**-20, None, torch.float32),
        (EXACT, np.float32([0.1, 0.5]), torch.float32),
    ],
)
def test_a_head_is_stored_in_float16_only_if_nothing_is_lost(tmp_path, weight, bias, dtype):
    path = tmp_path / "l.parquet"
    save_head(head_file(path), weight, bias, {})
    assert {tensor.dtype for tensor in load_file(head_file(path)).values()} == {dtype}
    assert np.array_equal(rebuilt(path, np.eye(2, dtype=np.float32)), weight.T + (0 if bias is None else bias))


def test_a_head_of_other_states_is_refused(tmp_path):
    path = write(tmp_path / "l.parquet", states(a_head()), head=a_head(d=D + 1))
    with pytest.raises(UserError, match=rf"l\.head\.safetensors: a head of {D + 1} columns, but states of {D}; run"):
        next(logit_groups(path))


def test_a_head_that_is_missing_damaged_or_no_head_is_named(tmp_path):
    path = write(tmp_path / "l.parquet", states(a_head()))
    with pytest.raises(UserError, match=r"l\.head\.safetensors: no complete head .*; delete .*l\.parquet and run"):
        next(logit_groups(path))
    save_head(head_file(path), a_head(), None, {})
    content = bytearray(head_file(path).read_bytes())
    content[-5] ^= 1
    head_file(path).write_bytes(content)
    with pytest.raises(UserError, match=r"l\.head\.safetensors: changed or damaged"):
        next(logit_groups(path))
    save_file({"weight": torch.zeros(3, D)}, head_file(path))
    with pytest.raises(UserError, match=r"l\.head\.safetensors: no complete head"):
        next(logit_groups(path))


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_chosen_rows_have_the_logits_of_all_rows(tmp_path, precision):
    windows = states(a_head(), windows=6)
    path = write(tmp_path / "l.parquet", windows, precision, a_head())
    everything = np.concatenate([logits for _, logits in logit_groups(path)])
    rows = draw_rows(path, 11, seed=4)
    read = read_rows(path, ["logits"], rows)
    np.testing.assert_allclose(read["logits"], everything[rows], atol=1e-5)
    assert read["window"].tolist() == (rows // SCORED).tolist()
    assert read["position"].tolist() == (rows % SCORED).tolist()
    assert read["target"].tolist() == np.concatenate([window.target for window in windows])[rows].tolist()
    with pytest.raises(UserError, match="30 positions, where row 30 was asked for"):
        read_rows(path, ["logits"], np.array([30]))


def test_logits_of_bytes_are_read_as_they_are_stored(tmp_path):
    by_window = {state.window: state.logits.astype(np.float32) for state in states(a_head(256))}
    path = write_logits(tmp_path / "l.parquet", by_window)
    name, logits_of = logits_column(path)
    assert name == "logits"
    assert not head_file(path).exists()
    for (keys, logits), expected in zip(logit_groups(path), by_window.values(), strict=True):
        assert keys.schema.names == ["window", "position", "target"]
        assert np.array_equal(logits, expected)
    column = read_table(path, ["logits"])["logits"].combine_chunks()
    assert np.array_equal(logits_of(column), vectors(column))
