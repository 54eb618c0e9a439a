"""What is counted from a shape is what the model itself has and does."""

from dataclasses import asdict

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from oversmoothing.models import gpt_shape
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.output_kinds import KINDS
from oversmoothing.models.spectra import BLOCKS, count_parameters
from oversmoothing.models.weights import save_model
from oversmoothing.samples.kv_cache import Cache

SHAPE = {"layers": 2, "heads": 2, "width": 16, "block": 32, "rank": 4}


@pytest.mark.parametrize("positions", ["learned", "rotary"])
@pytest.mark.parametrize("norm", ["after", "before"])
@pytest.mark.parametrize(("rank", "biases"), [(None, False), (None, True), (4, True), (16, False)])
def test_parameters_are_those_of_the_model(rank, biases, norm, positions, tmp_path):
    config = GPTConfig(**{**SHAPE, "rank": rank}, bottleneck_norm=norm, positions=positions, biases=biases)
    model, shape = GPT(config), asdict(config)
    assert gpt_shape.parameters(shape) == sum(parameter.numel() for parameter in model.parameters())
    assert gpt_shape.block_matrices(shape) == sum(
        weight.numel() for weight in model.blocks.parameters() if weight.ndim > 1
    )
    save_model(tmp_path / "weights.safetensors", config, model.state_dict(), {})
    in_blocks = sum(weight.numel() for weight in model.blocks.parameters())
    assert count_parameters(tmp_path / "weights.safetensors", BLOCKS) == in_blocks


@pytest.mark.parametrize("norm", ["after", "before"])
@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_output_layers_are_those_of_the_model(kind, rank, norm):
    config = GPTConfig(**{**SHAPE, "rank": rank}, output=kind, bottleneck_norm=norm)
    model, shape = GPT(config), asdict(config)
    assert gpt_shape.parameters(shape) == sum(parameter.numel() for parameter in model.parameters())
    assert gpt_shape.matrices(shape) == sum(weight.numel() for weight in model.parameters() if weight.ndim == 2)
    pre, post = model.hidden(torch.zeros((1, 1), dtype=torch.int64))
    assert gpt_shape.hidden_bytes(shape) == pre.nbytes + post.nbytes


@pytest.mark.parametrize("kind", KINDS)
def test_operations_are_those_that_torch_counts(kind):
    """Over a forward and a backward pass, in bf16, where attention is products that the counter sees."""
    shape = {**SHAPE, "output": kind}
    model = GPT(GPTConfig(**shape))
    with FlopCounterMode(display=False) as counter, torch.autocast("cpu", torch.bfloat16):
        model(torch.zeros(3, SHAPE["block"], dtype=torch.long)).sum().backward()
    assert counter.get_total_flops() == 3 * SHAPE["block"] * gpt_shape.flops_per_byte(shape)


def test_a_cache_takes_what_its_buffers_take():
    cache = Cache(GPT(GPTConfig(**SHAPE)).eval(), 3, 20)
    assert 3 * gpt_shape.cache_bytes(SHAPE["layers"], SHAPE["width"], 20) == np.prod(cache.buffers.shape) * 4
