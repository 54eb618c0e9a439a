"""A model over bytes that a study trained, with the interface of one from the hub."""

from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

from oversmoothing.hub.names import STUDIED
from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT
from oversmoothing.models.predictor import head_matrix
from oversmoothing.models.truths.token_model import BYTES, TokenModel, byte_table
from oversmoothing.models.weights import load_model


def load_studied(folder: Path, name: str, device: torch.device | str = "cpu") -> TokenModel:
    """Return the model of a study; a `UserError` unless it reads bytes and its logits are a linear map."""
    model = load_model(folder / STUDIED, device)
    if model.config.vocabulary != BYTES:
        raise UserError(f"{name}: it reads tokens of its study, and only models over bytes do here")
    head = head_matrix(model, name)
    return TokenModel(name, _Trunk(model), head, None, byte_table(0), None, model.config.block, "bytes")


class _Trunk(nn.Module):
    """All of a GPT but its head, with the interface of a trunk of transformers."""

    def __init__(self, model: GPT) -> None:
        super().__init__()
        self.model = model.requires_grad_(False)
        self.config = PreTrainedConfig.from_dict({"num_hidden_layers": model.config.layers})

    def forward(self, input_ids: Tensor, use_cache: bool = False) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=self.model.hidden(input_ids)[1])

    def get_input_embeddings(self) -> nn.Module:
        return self.model.embedding
