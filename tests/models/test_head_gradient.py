"""The gradient through a head of lower rank: ordinary logits, an ordinary update of the head, a compressed gradient."""

import pytest
import torch
from torch.nn import functional as F

from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.head_gradient import best_approximation, column_space, head_through
from oversmoothing.models.model import GPT

CONFIG = GPTConfig(layers=1, heads=2, width=16, block=12, positions="rotary")


def gradients(logits_of, hidden, weight):
    """Logits, and gradients of a loss with respect to the hidden states and the weights."""
    hidden, weight = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
    logits = logits_of(hidden, weight)
    targets = torch.arange(logits[..., 0].numel()) % logits.shape[-1]
    F.cross_entropy(logits.flatten(0, -2), targets).backward()
    return logits.detach(), hidden.grad, weight.grad


@pytest.fixture
def case():
    generator = torch.Generator().manual_seed(5)
    return torch.randn(3, 40, 16, generator=generator), torch.randn(64, 16, generator=generator)


@pytest.mark.parametrize("rank", [1, 15])
def test_only_the_gradient_that_enters_the_trunk_changes_to_that_of_the_best_approximation(case, rank):
    hidden, weight = case
    low = best_approximation(weight, rank)  # its error is of the singular values that it leaves out
    left_out = torch.linalg.svdvals(weight)[rank:].square().sum().sqrt()
    assert torch.linalg.norm(weight - low).item() == pytest.approx(left_out.item(), abs=1e-4)
    logits, of_hidden, of_weight = gradients(F.linear, hidden, weight)
    ours = gradients(lambda h, w: head_through(h, w, low), hidden, weight)
    assert torch.equal(ours[0], logits)
    assert torch.equal(ours[2], of_weight)
    assert torch.linalg.matrix_rank(of_hidden.flatten(0, 1)) == 16
    assert torch.linalg.matrix_rank(ours[1].flatten(0, 1), rtol=1e-5) == rank
    assert ours[1].square().mean().sqrt().item() == pytest.approx(of_hidden.square().mean().sqrt().item(), rel=1e-6)


def test_the_gradient_is_that_of_the_approximation_up_to_one_factor(case):
    hidden, weight = case
    low = best_approximation(weight, 3)
    logits, _, _ = gradients(F.linear, hidden, weight)
    g = logits.softmax(-1)
    g[torch.arange(3)[:, None], torch.arange(40), torch.arange(120).reshape(3, 40) % 64] -= 1
    expected = (g.double() / 120) @ low.double()
    ratio = gradients(lambda h, w: head_through(h, w, low), hidden, weight)[1].double() / expected
    assert ratio.std() / ratio.mean() < 1e-3
    scale = ((g.double() / 120) @ weight.double()).square().mean().sqrt() / expected.square().mean().sqrt()
    assert ratio.median().item() == pytest.approx(scale.item(), rel=1e-5)


def test_a_gradient_of_zero_stays_zero(case):
    hidden, weight = case
    hidden = hidden.requires_grad_()
    head_through(hidden, weight.requires_grad_(), best_approximation(weight, 2)).backward(torch.zeros(3, 40, 64))
    assert torch.equal(hidden.grad, torch.zeros_like(hidden))


def test_a_model_uses_it_in_training_alone():
    model = GPT(CONFIG, 3)
    tokens = torch.arange(24).reshape(2, 12)
    ordinary = model(tokens)
    model.backward_head = best_approximation(model.head.weight, 2)
    assert "backward_head" not in model.state_dict()
    assert torch.equal(model(tokens), ordinary)
    model(tokens).square().mean().backward()
    compressed = model.blocks[0].feed_forward.out.weight.grad.clone()
    model.zero_grad()
    model.eval()(tokens).square().mean().backward()
    assert not torch.allclose(compressed, model.blocks[0].feed_forward.out.weight.grad)


@pytest.mark.slow
def test_compiled_it_gives_the_same(case):
    hidden, weight = case
    low = best_approximation(weight, 4)

    def plain(hidden, weight):
        return head_through(hidden, weight, low)

    torch.testing.assert_close(gradients(torch.compile(plain), hidden, weight), gradients(plain, hidden, weight))


@pytest.mark.parametrize(("v", "d", "rank"), [(30, 5, 5), (5, 30, 5), (30, 8, 3), (6, 6, 6)])
def test_a_column_space_is_that_of_the_pseudoinverse(v, d, rank):
    generator = torch.Generator().manual_seed(v)
    weight = torch.randn(v, rank, generator=generator) @ torch.randn(rank, d, generator=generator)
    basis = column_space(weight)
    assert basis.shape == (v, rank)
    assert torch.allclose(basis.T @ basis, torch.eye(rank), atol=1e-5)
    projection = weight.double() @ torch.linalg.pinv(weight.double(), rtol=1e-5)
    assert torch.allclose((basis @ basis.T).double(), projection, atol=1e-4)
    assert column_space(torch.zeros(7, 3)).shape == (7, 0)
