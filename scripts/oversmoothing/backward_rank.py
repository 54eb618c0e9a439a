"""A head whose gradient reaches the trunk through fewer dimensions than its logits use (Murugan 2026).

The logits z = W h and the gradient of W are those of an ordinary head. Only the gradient that enters the trunk, W^T g,
becomes W_k^T g, with W_k the best approximation of W of rank k. An ordinary head thus differs from one of rank k in
what the trunk can learn, and in nothing that can be expressed.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F


def best_approximation(weight: Tensor, rank: int) -> Tensor:
    """Return the matrix of a given rank that is closest to `weight` (v, d) in the Frobenius norm (Eckart and Young)."""
    left, values, right = torch.linalg.svd(weight.detach().float(), full_matrices=False)
    return (left[:, :rank] * values[:rank]) @ right[:rank]


def head_through(hidden: Tensor, weight: Tensor, approximation: Tensor) -> Tensor:
    """Return the logits (..., v) of a head, with a gradient that reaches `hidden` through an approximation of it.

    Parameters
    ----------
    hidden : tensor, shape (..., d)
        What enters the head.
    weight : tensor, shape (v, d)
        The head. Its gradient is that of an ordinary one.
    approximation : tensor, shape (v, d)
        The gradient with respect to `hidden` is ``g @ approximation`` in place of ``g @ weight``, scaled so that its
        elements have the same root mean square.
    """
    logits: Tensor = _HeadThrough.apply(hidden, weight, approximation)
    return logits


class _HeadThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, approximation: Tensor) -> Tensor:
        ctx.save_for_backward(hidden, weight, approximation)
        return F.linear(hidden, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        hidden, weight, approximation = ctx.saved_tensors
        (gradient,) = gradients
        through = gradient @ approximation
        size = through.square().mean()
        scale = ((gradient @ weight).square().mean() / size.where(size > 0, 1.0)).sqrt()
        of_weight = gradient.flatten(0, -2).T @ hidden.flatten(0, -2)
        return through * scale, of_weight, None
