"""Next-byte logits and hidden states at all positions of a window, from one causal forward pass."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch

from oversmoothing.data.windows import window_tokens
from oversmoothing.models.device import autocast
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.predictor import Predictor


@torch.inference_mode()
def run_windows(model: Predictor, windows: pa.Table, batch: int, precision: str = "float32") -> Iterator[WindowStates]:
    """Yield a model's logits and hidden states on windows of equal length, `batch` of them per forward pass.

    The model is in evaluation mode; `precision` is that of its blocks, and its head is always float32.
    """
    device = model.head.weight.device
    special_mass = getattr(model, "special_mass", None)  # of a model that has ids that are no tokens
    for start in range(0, len(windows), batch):
        rows = windows.slice(start, batch)
        prompts, scored = window_tokens(rows)
        first = len(prompts[0])
        tokens = np.concatenate([np.stack(prompts), np.stack(scored)], axis=1)
        inputs = torch.from_numpy(tokens[:, :-1]).to(device)
        with autocast(device, precision):
            pre, post = model.hidden(inputs)
        pre, post = pre[:, first - 1 :].float(), post[:, first - 1 :].float()
        logits = model.logits(post)
        for i, window in enumerate(rows["window"].to_pylist()):
            yield WindowStates(
                window,
                tokens[i, first:],
                logits[i].cpu().numpy(),
                pre[i].cpu().numpy(),
                post[i].cpu().numpy(),
                special_mass(post[i]).cpu().numpy() if special_mass else None,
            )
