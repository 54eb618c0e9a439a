"""The gradient g of the logits z = W h: how much of it reaches the trunk (Murugan 2026).

An ordinary head W (v, d) passes W^T g to the trunk, which is blind to what lies outside the column space of W. With a
backward rank k the trunk receives W_k^T g, with W_k the best approximation of W of that rank: such a model differs from
an ordinary one in what its trunk can learn, and in nothing that it can express.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F


def column_space(weight: Tensor, tolerance: float = 1e-6) -> Tensor:
    """Return an orthonormal basis (v, rank) of the column space of `weight` (v, d), in float32.

    Singular values below `tolerance` of the largest count as zero.
    """
    basis, rest = torch.linalg.qr(weight.detach().float())
    left, values, _ = torch.linalg.svd(rest, full_matrices=False)  # of at most d rows, however large v is
    return basis @ left[:, values > tolerance * values.max()]


def best_approximation(weight: Tensor, rank: int) -> Tensor:
    """Return the matrix of a given rank that is closest to `weight` (v, d) in the Frobenius norm (Eckart and Young)."""
    left, values, right = torch.linalg.svd(weight.detach().float(), full_matrices=False)
    return (left[:, :rank] * values[:rank]) @ right[:rank]


def head_through(hidden: Tensor, weight: Tensor, approximation: Tensor) -> Tensor:
    """Return the logits (..., v) of a head (v, d) for its inputs (..., d), with a gradient through an approximation.

    It is ``g @ approximation`` in place of ``g @ weight``, scaled so that its elements have the same root mean square;
    the gradient of the head is that of an ordinary one.
    """
    return _HeadThrough.apply(hidden, weight, approximation)


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
