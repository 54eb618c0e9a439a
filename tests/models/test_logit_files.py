"""Files of logits over tokens: states and a head, from which every reader gets the logits of the model."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from run_logits import run_logits
from safetensors.torch import save_file
from step_jobs import write_logits

from oversmoothing.jobs import UserError
from oversmoothing.models import logit_files
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import (
    head_file,
    logit_groups,
    logits_column,
    save_head,
    state_array,
    states_batch,
    states_of,
    states_schema,
)
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.model import GPT
from oversmoothing.store.parquet import open_writer

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


def states(head, bias=None):
    """Return the states of three windows under a head, and their logits in float64."""
    draw = np.random.default_rng(1)
    drawn = []
    for window in range(3):
        post = draw.normal(0, 2, (SCORED, head.shape[1])).astype(np.float32)
        logits = post.astype(float) @ head.T.astype(float) + (0 if bias is None else bias)
        target = draw.integers(0, len(head), SCORED).astype(np.int32)
        drawn.append(WindowStates(window, target, logits, post, post))
    return drawn


def write(path, windows, precision="float32", head=None, bias=None):
    """Write a file of states and, if given, the head beside it; return its path."""
    with open_writer(path, states_schema(windows[0].post.shape[1], precision), {}) as writer:
        for window in windows:
            writer.write_batch(states_batch(window, precision))
    if head is not None:
        save_head(head_file(path), head, bias, {})
    return path


def a_head(v=V, d=D):
    return np.random.default_rng(5).normal(0, 1, (v, d)).astype(np.float32)


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


@pytest.mark.parametrize("rows", [7, V])
def test_a_head_is_read_in_blocks_of_rows(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(logit_files, "ROWS", rows)
    head, bias = a_head(), DRAW.normal(0, 1, V).astype(np.float32)
    windows = states(head, bias)
    path = write(tmp_path / "l.parquet", windows, head=head, bias=bias)
    for (_, logits), state in zip(logit_groups(path), windows, strict=True):
        np.testing.assert_allclose(logits, state.logits, atol=1e-5)
        assert np.array_equal(logits.argmax(1), state.logits.argmax(1))


def test_a_head_that_is_of_other_states_missing_damaged_or_no_head_is_named(tmp_path):
    path = write(tmp_path / "l.parquet", states(a_head()))
    for spoil, message in (
        (lambda: None, "no such file"),
        (
            lambda: save_head(head_file(path), a_head(d=D + 1), None, {}),
            f"a head of {D + 1} columns, but states of {D}",
        ),
        (lambda: head_file(path).write_bytes(head_file(path).read_bytes()[:-1] + b"?"), "changed or damaged"),
        (lambda: save_file({"weight": torch.zeros(3, D)}, head_file(path)), "no complete head"),
    ):
        spoil()
        with pytest.raises(UserError, match=rf"l\.head\.safetensors: {message}"):
            next(logit_groups(path))


def test_chosen_rows_have_the_logits_of_all_rows(tmp_path):
    path = write(tmp_path / "l.parquet", states(a_head()), "bf16", a_head())
    everything = np.concatenate([logits for _, logits in logit_groups(path)])
    rows = draw_rows(path, 11, seed=4)
    np.testing.assert_allclose(read_rows(path, ["logits"], rows)["logits"], everything[rows], atol=1e-5)


@pytest.mark.parametrize("rows", [[149], [0, 42, 43, 44, 149], range(150)])
def test_rows_are_drawn_once_each_by_the_seed_and_read_from_their_row_groups(tmp_path, rows):
    """Of unequal size; the first logit of a row is its number."""
    sizes = (3, 40, 1, 106)
    logits = np.split(np.arange(150)[:, None] + np.zeros(4), np.cumsum(sizes)[:-1])
    path = write_logits(tmp_path / "m.parquet", dict(enumerate(logits)))
    read = read_rows(path, ["logits"], np.array(rows))
    np.testing.assert_array_equal(read["logits"][:, 0], rows)
    np.testing.assert_array_equal(read["window"], np.repeat(range(4), sizes)[list(rows)])
    assert read["position"].tolist() == [np.concatenate([np.arange(n) for n in sizes])[row] for row in rows]
    drawn = draw_rows(path, 64, 7)
    assert len(drawn) == 64
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(drawn, draw_rows(path, 64, 7))
    assert not np.array_equal(drawn, draw_rows(path, 64, 8))
    np.testing.assert_array_equal(draw_rows(path, 1024, 0), np.arange(150))


def test_logits_of_bytes_are_read_as_they_are_stored(tmp_path):
    by_window = {state.window: state.logits.astype(np.float32) for state in states(a_head(256))}
    path = write_logits(tmp_path / "l.parquet", by_window)
    assert not head_file(path).exists()
    for (keys, logits), expected in zip(logit_groups(path), by_window.values(), strict=True):
        assert keys.schema.names == ["window", "position", "target"]
        assert np.array_equal(logits, expected)
