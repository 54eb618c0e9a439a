"""Loading of the config's truths as models over bytes: EvaByte, or any causal language model whose ids are bytes."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from oversmoothing.hub import asset_folder
from oversmoothing.jobs import UserError
from oversmoothing.pretrained import auto as pretrained
from oversmoothing.truths.byte_model import BYTES, ByteModel
from oversmoothing.truths.evabyte import load_evabyte

PROBE = 8  # bytes on which the head is tested


def load_truth(
    manifest: str | Path, name: str, settings: Mapping[str, Any], device: torch.device, precision: str
) -> ByteModel:
    """Truth from the files that a manifest lists (`oversmoothing.hub`).

    Parameters
    ----------
    manifest, name
        The truth's files, and its name for messages.
    settings : mapping
        ``layout``: "evabyte" or "causal_lm"; ``bos``: for the former whether EvaByte's own id is prepended to every
        text, for the latter an id or None; for the latter also ``byte_offset``.
    device : torch.device
    precision : {"bf16", "float32"}

    Raises
    ------
    UserError
        If files are missing or contain another kind of model.
    """
    folder = asset_folder(manifest)
    if settings["layout"] == "evabyte":
        return load_evabyte(folder, name, device, precision, settings["bos"])
    if settings["layout"] == "causal_lm":
        return load_causal_lm(folder, name, settings["byte_offset"], settings["bos"], device, precision)
    raise UserError(f"{name}: layout {settings['layout']!r} is not known; write evabyte or causal_lm")


def load_causal_lm(
    folder: str | Path, name: str, byte_offset: int, bos: int | None, device: torch.device, precision: str
) -> ByteModel:
    """Causal language model of transformers whose ids are bytes, possibly shifted by an offset.

    Parameters
    ----------
    folder : path
        In the Hugging Face format.
    byte_offset : int
        The id of byte 0; byte b is the id b + `byte_offset`.
    bos : int or None
        Id prepended to every text.
    device : torch.device
    precision : {"bf16", "float32"}
        Of the weights; the head is always float32.

    Raises
    ------
    UserError
        As `pretrained.auto.load_causal_lm`; also if there are fewer than 256 ids for bytes, or if the logits are not
        the head times the last hidden state.
    """
    model = pretrained.load_causal_lm(folder, torch.bfloat16 if precision == "bf16" else torch.float32, name, device)
    model.requires_grad_(False)
    head = model.get_output_embeddings()
    # A model without a limit, such as one with rotary positions, is limited by the windows alone.
    context = pretrained.context_of(model) or sys.maxsize
    own = ByteModel(name, model.base_model, head.weight, getattr(head, "bias", None), byte_offset, bos, context)
    _try_head(own, model, 0.05 if precision == "bf16" else 1e-3)
    return own


@torch.inference_mode()
def _try_head(own: ByteModel, model: Any, tolerance: float) -> None:
    """Raise unless the logits are a linear map of the last hidden state."""
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
