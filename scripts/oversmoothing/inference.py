"""One causal pass over each window gives the next-byte logits, and the hidden states, of all its positions."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch

from oversmoothing.device import autocast
from oversmoothing.logits import WindowStates
from oversmoothing.predictor import Predictor


@torch.inference_mode()
def run_windows(model: Predictor, windows: pa.Table, batch: int, precision: str = "float32") -> Iterator[WindowStates]:
    """Run a model over evaluation windows, `batch` of them per forward pass.

    Parameters
    ----------
    model : Predictor
        A GPT or a truth from elsewhere, in evaluation mode, on its device.
    windows : pyarrow.Table
        Columns ``window``, ``prompt``, ``scored`` (binary); all windows are equally long.
    batch : int
    precision : {"bf16", "float32"}
        Of the blocks; the head is always float32.

    Yields
    ------
    WindowStates
        One per window, in their order.

    Raises
    ------
    ValueError
        If a window does not fit into the model's block.
    """
    device = model.head.weight.device
    for start in range(0, len(windows), batch):
        rows = windows.slice(start, batch).to_pylist()
        first = len(rows[0]["prompt"])
        tokens = np.stack([np.frombuffer(row["prompt"] + row["scored"], np.uint8) for row in rows])
        inputs = torch.from_numpy(tokens[:, :-1].astype(np.int64)).to(device)
        with autocast(device, precision):
            pre, post = model.hidden(inputs)
        pre, post = pre[:, first - 1 :].float(), post[:, first - 1 :].float()
        logits = model.logits(post)
        for i, row in enumerate(rows):
            yield WindowStates(
                row["window"],
                tokens[i, first:],
                logits[i].cpu().numpy(),
                pre[i].cpu().numpy(),
                post[i].cpu().numpy(),
            )
