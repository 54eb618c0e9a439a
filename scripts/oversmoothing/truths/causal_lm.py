"""Any causal language model of transformers whose ids are bytes, perhaps behind an offset."""

import sys
from pathlib import Path
from typing import Any

import torch

from oversmoothing.jobs import UserError
from oversmoothing.pretrained import auto as pretrained
from oversmoothing.truths.byte_model import BYTES, ByteModel

PROBE = 8  # bytes on which the head is tried


def load_causal_lm(
    folder: str | Path, name: str, byte_offset: int, bos: int | None, device: torch.device, precision: str
) -> ByteModel:
    """Load a model through the Auto classes, from safetensors and without code of its own.

    Parameters
    ----------
    folder : path
        In the Hugging Face format.
    name : str
        For messages.
    byte_offset : int
        The id of byte 0; byte b is the id b + `byte_offset`.
    bos : int or None
        An id put before every text.
    device : torch.device
    precision : {"bf16", "float32"}
        Of the weights; the head is float32 always.

    Raises
    ------
    UserError
        If there is no such model, it brings code of its own, its weights are incomplete, its ids leave no room for 256
        bytes, or its logits are not its head times its last hidden state.
    """
    model = pretrained.load_causal_lm(folder, torch.bfloat16 if precision == "bf16" else torch.float32, name)
    torch.nn.Module.to(model, device)
    model.requires_grad_(False)
    head = model.get_output_embeddings()
    # Where a model sets no limit, as with rotary positions that reach on, the windows are the limit.
    context = pretrained.context_of(model) or sys.maxsize
    own = ByteModel(name, model.base_model, head.weight, getattr(head, "bias", None), byte_offset, bos, context)
    _try_head(own, model, 0.05 if precision == "bf16" else 1e-3)
    return own


@torch.inference_mode()
def _try_head(own: ByteModel, model: Any, tolerance: float) -> None:
    """Refuse a model that does more between its last hidden state and its logits than a linear map."""
    tokens = torch.arange(PROBE, device=own.head.weight.device)[None] * 31
    logits = own.logits(own.hidden(tokens)[1])
    first = own.byte_offset
    expected = model(input_ids=own.ids(tokens), use_cache=False).logits[:, -PROBE:, first : first + BYTES].float()
    error = (logits - expected).abs().max() / expected.abs().max().clamp(min=1e-6)
    if not error < tolerance:
        raise UserError(
            f"{own.name}: its logits are not its head times its last hidden state (off by {error:.0%} of the largest); "
            "such a model cannot be a truth here"
        )
