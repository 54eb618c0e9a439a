"""How much of the gradient of the logits a head lets through, by hand and against a projection in float64."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from oversmoothing.measures.logit_gradient import BATCH, LogitGradient


def draw(v, d, n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randn(v, d, generator=generator),
        2 * torch.randn(n, v, generator=generator),
        torch.randint(v, (n,), generator=generator),
    )


def measured(head, logits, targets):
    gradient = LogitGradient(head)
    gradient.add(logits, targets)
    return gradient


def gradients(logits, targets):
    """Those of the loss of each token, by PyTorch."""
    logits = logits.double().requires_grad_()
    F.cross_entropy(logits, targets, reduction="sum").backward()
    return logits.grad.numpy()


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 40), st.integers(1, 12), st.integers(1, 20), st.integers(0, 99))
def test_against_a_projection_in_float64(v, d, n, seed):
    head, logits, targets = draw(v, d, n, seed)
    found = measured(head, logits, targets)
    g, w = gradients(logits, targets), head.double().numpy()
    inside = g @ (w @ np.linalg.pinv(w)).T
    norms = np.linalg.norm(g, axis=1)
    assert found.share() == pytest.approx((inside**2).sum() / (g**2).sum(), rel=1e-4)
    assert found.cosine() == pytest.approx((np.linalg.norm(inside, axis=1) / norms).mean(), rel=1e-4)
    sigma = np.linalg.svd(g, compute_uv=False)
    assert found.rank() == (sigma > 0.01 * sigma[0]).sum()
    assert found.count == n


def test_tokens_in_parts_are_the_same_as_at_once():
    head, logits, targets = draw(20, 5, BATCH + 30)
    once, parts = measured(head, logits, targets), LogitGradient(head)
    for i in range(0, len(targets), 100):
        parts.add(logits[i : i + 100], targets[i : i + 100])
    assert (parts.share(), parts.cosine()) == pytest.approx((once.share(), once.cosine()))
    assert parts.rank() == once.rank()
    assert sum(map(len, parts._first)) == BATCH


def test_without_a_gradient_there_is_no_share():
    certain = measured(torch.eye(3), torch.tensor([[200.0, 0.0, 0.0]]), torch.tensor([0]))
    for gradient in (LogitGradient(torch.eye(3)), certain):
        assert math.isnan(gradient.share())
        assert math.isnan(gradient.cosine())
        assert gradient.count == gradient.rank() == 0


@pytest.mark.parametrize("cap", [0.5, 5.0])
def test_behind_a_cap_it_is_the_gradient_of_the_heads_own_logits(cap):
    """Against backpropagation through the cap."""
    head, z, targets = draw(24, 4, 9)
    own = z.double().requires_grad_()
    F.cross_entropy(cap * torch.tanh(own / cap), targets, reduction="sum").backward()
    found = LogitGradient(head)
    found.add(cap * torch.tanh(z / cap), targets, cap)
    w = head.double().numpy()
    inside = own.grad.numpy() @ (w @ np.linalg.pinv(w)).T
    assert found.share() == pytest.approx((inside**2).sum() / float(own.grad.square().sum()), rel=1e-3)
    assert found.share() != pytest.approx(measured(head, cap * torch.tanh(z / cap), targets).share(), rel=1e-2)
