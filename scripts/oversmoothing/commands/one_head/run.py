"""One model over the passages of a text."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from tqdm import tqdm

from oversmoothing.commands.one_head.text import Passage
from oversmoothing.models.device import autocast
from oversmoothing.models.model import GPT
from oversmoothing.models.truths.token_model import TokenModel


def entering(
    model: TokenModel | GPT, passages: Sequence[Passage], precision: str, shown_as: str
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield of each passage what enters the head, float32: at all its tokens (n, d), and at its places (k, d)."""
    device = model.head.weight.device
    for passage in tqdm(passages, desc=shown_as, unit="passage", leave=False, disable=None):
        tokens = torch.from_numpy(passage.tokens).to(device)
        with autocast(device, precision):
            states = model.hidden(tokens[None])[1][0]
        states = states.float()
        yield states, states[passage.places - 1]
