"""The singular values of a head, on the device where it is."""

import numpy as np
import torch
from torch import Tensor

from oversmoothing.measures.catalogue import Measure
from oversmoothing.models.heads import ModelHead
from oversmoothing.numerics.singular_values import singular_values

TALL = 4  # ratio of rows to columns from which the Gram matrix is much faster than the matrix itself
ROWS = 4096  # of the head in float64 at a time


def spectrum(head: ModelHead, hidden: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return the singular values of a head, in decreasing order; the hidden states do not matter."""
    return {"singular_value": head_spectrum(torch.from_numpy(head.weights))}


def head_spectrum(weight: Tensor) -> np.ndarray:
    """Return the singular values of a head (v, d), float64 (min(v, d),), in decreasing order.

    A head with far more tokens than dimensions is decomposed by its Gram matrix W^T W, (d, d), whose eigenvalues are
    the squares of the singular values. Singular values below 1e-8 of the largest are lost to rounding, which is less
    than the rounding of the weights. A `ValueError` is raised if a weight is not finite.
    """
    weight = weight.detach()
    if not weight.isfinite().all():
        raise ValueError("a weight of the head is NaN or infinite")
    v, d = weight.shape
    if v < TALL * d:
        return singular_values(weight.double().cpu().numpy())
    gram = torch.zeros(d, d, dtype=torch.float64, device=weight.device)
    for rows in weight.split(ROWS):
        gram += rows.double().T @ rows.double()
    return torch.linalg.eigvalsh(gram).clamp(min=0).sqrt().flip(0).cpu().numpy()


MEASURE = Measure("spectrum", spectrum, needs=("head",), statistics={}, table="spectrum", over="head")
