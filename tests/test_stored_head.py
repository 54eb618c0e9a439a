"""Logits from hidden states and a head that stays in its file."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from oversmoothing.jobs import UserError
from oversmoothing.stored_head import StoredHead

V, D = 301, 24
DRAW = torch.Generator().manual_seed(0)
WEIGHT, BIAS = torch.randn(V, D, generator=DRAW), torch.randn(V, generator=DRAW)
STATES = torch.randn(7, D, generator=DRAW)


@pytest.fixture
def path(tmp_path):
    tensors = {str(dtype): WEIGHT.to(dtype) for dtype in (torch.float32, torch.float16, torch.bfloat16)}
    tensors |= {"norm": torch.ones(D), "double": WEIGHT.double()}
    save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("block", [1, D, 10 * D + 5, V * D, 1 << 23])
def test_logits_are_one_matrix_product_whatever_the_block(path, dtype, block):
    logits = StoredHead(path, str(dtype)).logits(STATES, block)
    assert logits.dtype == torch.float32
    expected = STATES.double().numpy() @ WEIGHT.to(dtype).double().numpy().T
    np.testing.assert_allclose(logits.numpy(), expected, atol=1e-5)


def test_bias_and_softcap(path):
    logits = StoredHead(path, "torch.float32", BIAS.bfloat16(), softcap=3.0).logits(STATES, 10 * D)
    expected = STATES.double() @ WEIGHT.double().T + BIAS.bfloat16().double()
    np.testing.assert_allclose(logits.numpy(), 3 * np.tanh(expected.numpy() / 3), atol=1e-5)
    assert abs(expected).max() > 9
    assert abs(logits).max() <= 3


def test_no_states(path):
    assert StoredHead(path, "torch.float16").logits(torch.empty(0, D)).shape == (0, V)


def test_only_a_block_of_the_head_is_converted(path, monkeypatch):
    """Memory beside the result is that of a block: no product has a larger factor."""
    factors = []
    product = torch.mm
    monkeypatch.setattr(torch, "mm", lambda a, b, out: factors.append(b.shape) or product(a, b, out=out))
    StoredHead(path, "torch.bfloat16").logits(STATES, 100 * D)
    assert factors == [(D, 100), (D, 100), (D, 100), (D, 1)]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("lm_head", "no tensor lm_head; it holds double, norm, torch.bfloat16"),
        ("norm", r"norm has shape \(24,\) and type F32"),
        ("double", r"double has shape \(301, 24\) and type F64"),
    ],
)
def test_other_tensors_are_refused_by_name(path, name, says):
    with pytest.raises(UserError, match=says):
        StoredHead(path, name)


def test_missing_and_damaged_files_are_named(path, tmp_path):
    with pytest.raises(UserError, match=r"other\.safetensors: no such file"):
        StoredHead(tmp_path / "other.safetensors", "head")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"model\.safetensors: not a complete safetensors file"):
        StoredHead(path, "torch.float32")


def test_what_does_not_fit_is_refused(path):
    with pytest.raises(ValueError, match=r"a bias of shape \(24,\) for a vocabulary of 301"):
        StoredHead(path, "torch.float32", torch.ones(D))
    for softcap in (0.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="softcap"):
            StoredHead(path, "torch.float32", softcap=softcap)
    head = StoredHead(path, "torch.float32")
    for states in (STATES[0], STATES[:, 1:], STATES.double()):
        with pytest.raises(ValueError, match="a head of width 24 takes float32"):
            head.logits(states)
