"""How much of the gradient of the loss with respect to the logits a head lets through (Godey and Artzi 2026)."""

import math

import torch
from torch import Tensor

from oversmoothing.models.head_gradient import column_space

BATCH = 1024  # gradients whose numerical rank is taken
NUMERICAL = 0.01  # share of the largest singular value, below which one counts as zero


class LogitGradient:
    """Accumulates the gradients g = softmax(z) - onehot(y) of single tokens, to compare them with a head W (v, d).

    Backpropagation passes W^T g to the trunk, and so only P g, the part of g in the column space of W. Of capped logits
    c tanh(z / c) = l, g is that of the head's z: (softmax(l) - onehot(y)) (1 - (l / c)^2), by the chain rule. `head` is
    W, or the matrix through which the gradient passes in its place.
    """

    def __init__(self, head: Tensor) -> None:
        self._basis = column_space(head)
        self._total = self._inside = self._cosines = 0.0
        self.count = 0  # of tokens with a gradient that is not zero
        self._first: list[Tensor] = []

    def add(self, logits: Tensor, targets: Tensor, cap: float | None = None) -> None:
        """Add the gradients of tokens: logits (n, v), on the device of the head, and targets, int64 (n,).

        `cap` is the c of logits that are capped.
        """
        g = logits.float().softmax(dim=-1)
        g[torch.arange(len(targets), device=g.device), targets] -= 1
        if cap is not None:
            g *= 1 - (logits.float() / cap).square()
        total = g.square().sum(dim=-1).double()
        inside = (g @ self._basis).square().sum(dim=-1).double().minimum(total)
        self._total += float(total.sum())
        self._inside += float(inside.sum())
        some = total > 0
        self._cosines += float((inside[some] / total[some]).sqrt().sum())
        self.count += int(some.sum())
        if room := BATCH - sum(map(len, self._first)):
            self._first.append(g[:room].clone())

    def share(self) -> float:
        """Return the sum of |P g|^2 over tokens as a share of that of |g|^2; NaN without a gradient."""
        return self._inside / self._total if self._total else math.nan

    def cosine(self) -> float:
        """Return the mean cosine of g and P g over tokens, which is that of |P g| / |g|."""
        return self._cosines / self.count if self.count else math.nan

    def rank(self) -> int:
        """Return the number of singular values of the first `BATCH` gradients that are not numerically zero."""
        gradients = torch.cat(self._first) if self._first else torch.zeros(0, 1)
        gram = (gradients @ gradients.T if len(gradients) < gradients.shape[1] else gradients.T @ gradients).double()
        values = torch.linalg.eigvalsh(gram).clamp(min=0).sqrt()
        return int((values > NUMERICAL * values.max()).sum()) if values.numel() else 0
