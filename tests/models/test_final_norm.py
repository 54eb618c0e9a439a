"""The norm in front of a head, in models of transformers and of a study, whose weights say what it is."""

import copy

import numpy as np
import pytest
import torch
from hub_models import write_gemma2, write_token_model
from torch import nn

from oversmoothing.models.device import Compute
from oversmoothing.models.final_norm import norm_before_head, norm_of
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.source import load, load_studied, tokenizer_of
from oversmoothing.models.weights import save_model

NORMS = {"gpt2": "ln_f", "neox": "final_layer_norm", "llama": "norm", "phi": "final_layernorm", "gemma2": "norm"}


@pytest.mark.parametrize("name", sorted(NORMS))
def test_norms_of_transformers(name, tmp_path):
    model = write_gemma2(tmp_path, 301, 30.0) if name == "gemma2" else write_token_model(tmp_path, name)
    weight, bias = (getattr(getattr(model.base_model, NORMS[name]), own, None) for own in ("weight", "bias"))
    with torch.no_grad():
        weight += torch.linspace(-0.5, 0.7, len(weight))
        if bias is not None:
            bias += torch.linspace(0.1, -0.3, len(bias))
    model.save_pretrained(tmp_path)
    read = load(tmp_path, name, tokenizer_of(tmp_path)[1], "auto", Compute(torch.device("cpu"), "float32"))
    norm = norm_before_head(read)
    assert norm.name == ("RMSNorm" if name in ("llama", "gemma2") else "LayerNorm")
    expected = weight.detach().numpy() + (name == "gemma2")  # whose gain is 1 + weight
    np.testing.assert_allclose(norm.gain, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.bias, 0 if bias is None else bias.detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("place", ["after", "before"])
def test_a_linear_layer_between_norm_and_head_is_no_norm(place, tmp_path):
    config = GPTConfig(layers=1, heads=2, width=12, block=16, rank=6, bottleneck_norm=place)
    model = GPT(config, 0, "fan_in")
    save_model(tmp_path / "weights.safetensors", config, model.state_dict(), {})
    norm = norm_before_head(load_studied(tmp_path, "own"))
    assert norm is None if place == "before" else (norm.centres and len(norm.gain) == 6)


def test_what_is_no_norm():
    for module in (nn.Identity(), nn.Linear(8, 8), nn.Linear(5, 8), nn.Tanh(), nn.BatchNorm1d(8)):
        assert norm_of(copy.deepcopy(module), 8) is None
    plain = norm_of(nn.LayerNorm(8, elementwise_affine=False), 8)
    assert plain.centres
    np.testing.assert_allclose(plain.gain, 1, rtol=1e-6)
