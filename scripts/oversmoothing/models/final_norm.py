"""The norm in front of a head, found by what it does rather than by its name."""

import copy
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from oversmoothing.models.truths.token_model import PROBE, TokenModel, probe

INPUTS = 4  # random ones that tell what a module does
LARGE = 1e3  # their size, so that no epsilon counts
ALIKE = 1e-3  # largest error, as a share of the largest value, that rounding explains


class Norm(NamedTuple):
    """A norm, gain * x / size(x) + bias: an RMSNorm, or a LayerNorm, which `centres` x first."""

    centres: bool
    gain: np.ndarray  # float64 (d,)
    bias: np.ndarray  # float64 (d,), zeros without one

    @property
    def name(self) -> str:
        """What it is called."""
        return "LayerNorm" if self.centres else "RMSNorm"


@torch.inference_mode()
def norm_before_head(model: TokenModel) -> Norm | None:
    """Return the norm whose output enters the head; None if something else lies between, or there is none."""
    seen: list[tuple[nn.Module, Tensor]] = []
    leaves = [module for module in model.trunk.modules() if not list(module.children())]
    hooks = [leaf.register_forward_hook(lambda own, _, output: seen.append((own, output))) for leaf in leaves]
    try:
        tokens = probe(min(PROBE, model.config.block), model.config.vocabulary)
        entering = model.hidden(tokens.to(model.table.device))[1][0]
    finally:
        for hook in hooks:
            hook.remove()
    for leaf, output in reversed(seen):
        if isinstance(output, Tensor) and output.shape[-1] == entering.shape[-1]:
            entered = output.reshape(-1, output.shape[-1])[-len(entering) :]  # without an id before the text
            if torch.equal(entered, entering) and (norm := norm_of(leaf, entering.shape[-1])):
                return norm
    return None


def norm_of(module: nn.Module, width: int) -> Norm | None:
    """Return what a module does if it is a norm of vectors of this width; None if it is not."""
    alone = copy.deepcopy(module).to(device="cpu", dtype=torch.float64)
    x = LARGE * torch.randn(INPUTS, width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x *= torch.arange(1, INPUTS + 1)[:, None]
    try:
        plus, minus = alone(x).double(), alone(-x).double()
    except (RuntimeError, TypeError):  # a module of other inputs
        return None
    if plus.shape != x.shape or minus.shape != x.shape:
        return None
    odd = (plus - minus) / 2
    for centres in (False, True):
        unit = x - x.mean(dim=1, keepdim=True) if centres else x
        unit = unit / unit.square().mean(dim=1, keepdim=True).sqrt()
        gain = (unit * odd).sum(dim=0) / unit.square().sum(dim=0)  # least squares
        bias = ((plus + minus) / 2).mean(dim=0)
        if (gain * unit + bias - plus).abs().max() <= ALIKE * plus.abs().max():
            return Norm(centres, gain.numpy(), bias.numpy())
    return None
