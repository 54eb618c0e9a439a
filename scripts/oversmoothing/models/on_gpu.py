"""Where distributions over tokens are compared: on a GPU where there is one."""

from collections.abc import Callable

import numpy as np
import torch

from oversmoothing.models.device import choose_device


def to_gpu(name: str) -> Callable[[np.ndarray], torch.Tensor] | None:
    """Map from arrays to tensors on the GPU for the setting `device`, or None if it leads to no GPU.

    On a processor NumPy is faster than PyTorch. Errors are those of `choose_device`.
    """
    device = choose_device(name)
    return None if device.type == "cpu" else lambda array: torch.from_numpy(array).to(device)
