"""What is counted from a shape is what the model itself has and does."""

from dataclasses import asdict

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from oversmoothing.models.gpt_shape import (
    block_matrices,
    cache_bytes,
    flops_per_byte,
    hidden_bytes,
    matrices,
    matrices_without_bottleneck,
    multiplied,
    parameters,
)
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.spectra import BLOCKS, count_parameters
from oversmoothing.models.weights import save_model
from oversmoothing.samples.cache import Cache
from oversmoothing.training import throughput

SHAPE = {"layers": 2, "heads": 2, "width": 16, "block": 32, "rank": 4}


@pytest.mark.parametrize("positions", ["learned", "rotary"])
@pytest.mark.parametrize("norm", ["after", "before"])
@pytest.mark.parametrize("rank", [None, 4, 16])
def test_parameters_are_those_of_the_model(rank, norm, positions, tmp_path):
    config = GPTConfig(**{**SHAPE, "rank": rank}, bottleneck_norm=norm, positions=positions)
    model, shape = GPT(config), asdict(config)
    assert parameters(shape) == sum(parameter.numel() for parameter in model.parameters())
    in_blocks = [parameter for name, parameter in model.named_parameters() if name.startswith("blocks.")]
    norms = 2 * shape["layers"] * shape["width"]
    assert block_matrices(shape) + norms == sum(parameter.numel() for parameter in in_blocks)
    assert block_matrices(shape) == sum(parameter.numel() for parameter in in_blocks if parameter.ndim == 2)
    save_model(tmp_path / "weights.safetensors", config, model.state_dict(), {})
    assert block_matrices(shape) + norms == count_parameters(tmp_path / "weights.safetensors", BLOCKS)


@pytest.mark.parametrize("rank", [None, 4, 16])
def test_weights_are_those_of_the_model(rank):
    shape = {**SHAPE, "rank": rank}
    model = GPT(GPTConfig(**shape))
    found = {name: weight.numel() for name, weight in model.named_parameters() if weight.ndim == 2}
    assert matrices(shape) == sum(found.values())
    embeddings = (256 + shape["block"]) * shape["width"]
    assert multiplied(shape) == sum(found.values()) - embeddings
    assert matrices_without_bottleneck(shape) == matrices({**shape, "rank": None})
    assert flops_per_byte(shape) == throughput.flops_per_byte(model)


@pytest.mark.parametrize("rank", [None, 4])
def test_hidden_states_are_those_of_the_model(rank):
    shape = {**SHAPE, "rank": rank}
    pre, post = GPT(GPTConfig(**shape)).hidden(torch.zeros((1, 1), dtype=torch.int64))
    assert hidden_bytes(shape) == pre.nbytes + post.nbytes


def test_operations_are_those_that_torch_counts():
    """Torch's own counter, forward and back, over matrix products; attention counts in full, as in the formula."""
    model = GPT(GPTConfig(**SHAPE))
    bytes_read = torch.randint(0, 256, (3, SHAPE["block"]))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:  # it counts no fused attention
        model(bytes_read).sum().backward()
    counted = counter.get_total_flops() / bytes_read.numel()
    assert counted == pytest.approx(flops_per_byte(SHAPE), rel=0.01)


def test_a_cache_takes_what_its_buffers_take():
    cache = Cache(GPT(GPTConfig(**SHAPE)).eval(), 3, 20)
    assert 3 * cache_bytes(SHAPE["layers"], SHAPE["width"], 20) == np.prod(cache.buffers.shape) * 4
