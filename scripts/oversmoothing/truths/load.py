"""From an entry of the config's truths to a model over bytes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from oversmoothing.hub import asset_folder
from oversmoothing.jobs import UserError
from oversmoothing.truths.byte_model import ByteModel
from oversmoothing.truths.causal_lm import load_causal_lm
from oversmoothing.truths.evabyte import load_evabyte


def load_truth(
    manifest: str | Path, name: str, settings: Mapping[str, Any], device: torch.device, precision: str
) -> ByteModel:
    """Load a truth from the files that a manifest lists (`oversmoothing.hub`).

    Parameters
    ----------
    manifest : path
    name : str
        The truth's name, for messages.
    settings : mapping
        ``layout``: "evabyte" or "causal_lm"; ``bos``: for the former whether EvaByte's own is put before every text,
        for the latter an id or None; for the latter ``byte_offset``.
    device : torch.device
    precision : {"bf16", "float32"}

    Raises
    ------
    UserError
        If files are missing or hold another kind of model.
    """
    folder = asset_folder(manifest)
    if settings["layout"] == "evabyte":
        return load_evabyte(folder, name, device, precision, settings["bos"])
    if settings["layout"] == "causal_lm":
        return load_causal_lm(folder, name, settings["byte_offset"], settings["bos"], device, precision)
    raise UserError(f"{name}: layout {settings['layout']!r} is not known; write evabyte or causal_lm")
