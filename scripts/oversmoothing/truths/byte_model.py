"""Adapter of a causal language model of transformers to a model over bytes, with the interface of `GPT`.

Such a model has more ids than bytes: byte b is the id b + `byte_offset`, and the others are special ids. As in the
thesis (3.2), the softmax is taken over the 256 bytes alone; the probability of the special ids is reported.
"""

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import DynamicCache

from oversmoothing.jobs import UserError

BYTES = 256


@dataclass(frozen=True)
class ByteModelConfig:
    """Shape of such a model; `block` is the longest context in bytes, without the beginning-of-sentence id."""

    layers: int
    width: int
    block: int
    rank: None = None
    vocabulary: int = BYTES


class ByteModel:
    """Trunk and head of a transformers model that read and predict bytes.

    Parameters
    ----------
    name : str
        For messages.
    trunk : transformers.PreTrainedModel
        From ids to ``last_hidden_state``, with a cache of keys and values; in evaluation mode, on its device.
    weight : tensor, shape (ids, width)
        The LM head; it is applied in float32.
    bias : tensor, shape (ids,), or None
        Of the head.
    byte_offset : int
        The id of byte 0.
    bos : int or None
        Id prepended to every text.
    context : int
        Longest context in ids.

    Raises
    ------
    UserError
        If the head has fewer than 256 ids from `byte_offset` on, or `bos` is not one of its ids.
    """

    def __init__(
        self,
        name: str,
        trunk: Any,
        weight: Tensor,
        bias: Tensor | None,
        byte_offset: int,
        bos: int | None,
        context: int,
    ) -> None:
        ids, width = weight.shape
        if byte_offset + BYTES > ids:
            raise UserError(f"{name}: byte_offset {byte_offset} leaves no room for 256 bytes among its {ids} ids")
        if bos is not None and bos >= ids:
            raise UserError(f"{name}: bos {bos} is none of its {ids} ids")
        self.name, self.trunk, self.byte_offset, self.bos = name, trunk, byte_offset, bos
        self.config = ByteModelConfig(trunk.config.num_hidden_layers, width, context - (bos is not None))
        is_byte = torch.zeros(ids, dtype=torch.bool)
        is_byte[byte_offset : byte_offset + BYTES] = True
        is_byte = is_byte.to(weight.device)
        weight, bias = weight.detach().float(), None if bias is None else bias.detach().float()
        self.head = nn.Linear(width, BYTES, bias=bias is not None, device=weight.device).requires_grad_(False)
        self.head.weight.copy_(weight[is_byte])
        if bias is not None:
            self.head.bias.copy_(bias[is_byte])
        # The rows of the special ids, possibly none.
        self.special = weight[~is_byte], None if bias is None else bias[~is_byte]

    def hidden(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Run everything but the head.

        Parameters
        ----------
        tokens : int64 tensor, shape (batch, time)
            Bytes; time may be at most `config.block`.

        Returns
        -------
        pre, post : tensor, shape (batch, time, width)
            Both are the head's input, since there is no bottleneck.
        """
        time = tokens.shape[1]
        if time > self.config.block:
            raise UserError(
                f"{self.name}: a context of {time} bytes is longer than the {self.config.block} that it attends to "
                "exactly; shorten `windows`"
            )
        states = self.trunk(input_ids=self.ids(tokens), use_cache=False).last_hidden_state
        post = states[:, -time:]
        return post, post

    def logits(self, post: Tensor) -> Tensor:
        """Float32 logits (..., 256) of the bytes."""
        return _linear(post, self.head.weight, self.head.bias)

    def special_mass(self, post: Tensor) -> Tensor:
        """Probability (...) of the special ids in the softmax over all ids; a `UserError` if a logit is not finite."""
        bytes_, special = self.logits(post), _linear(post, *self.special)
        if not (bytes_.isfinite().all() and special.isfinite().all()):
            raise UserError(f"{self.name}: its logits are not all finite numbers; its weights are damaged")
        return torch.sigmoid(special.logsumexp(dim=-1) - bytes_.logsumexp(dim=-1))

    def ids(self, tokens: Tensor, first: bool = True) -> Tensor:
        """Ids of bytes (batch, time); with `first`, the beginning of a text, `bos` is prepended."""
        ids = tokens + self.byte_offset
        return F.pad(ids, (1, 0), value=self.bos) if first and self.bos is not None else ids

    def cache(self, length: int) -> "ByteCache":
        """New `ByteCache` for texts of up to `length` bytes."""
        return ByteCache(self, length)


class ByteCache:
    """Keys and values of texts of equal length, with the interface of `samples.cache.Cache` for a GPT."""

    def __init__(self, model: ByteModel, length: int) -> None:
        if length > model.config.block:
            raise ValueError(f"{length} bytes do not fit into a block of {model.config.block}")
        self.model = model
        self.memory = _Memory(config=model.trunk.config)
        self.begun = False

    def feed(self, tokens: Tensor) -> Tensor:
        """Append bytes (n, time) to the texts; return float32 logits (n, 256) of the byte that follows."""
        ids = self.model.ids(tokens, first=not self.begun)
        self.begun = True
        output = self.model.trunk(input_ids=ids, past_key_values=self.memory, use_cache=True)
        return self.model.logits(output.last_hidden_state[:, -1])

    def reorder(self, rows: Tensor, start: int) -> None:
        """Replace text i by text ``rows[i]``, rows of shape (n,); the texts are equal before position `start`."""
        self.memory.reorder_cache(cast(torch.LongTensor, rows))


class _Memory(DynamicCache):
    """Keys and values in one precision, since rotary positions turn bf16 keys into float32."""

    def update(self, key_states: Tensor, value_states: Tensor, *others: Any, **more: Any) -> tuple[Tensor, Tensor]:
        return super().update(key_states.to(value_states.dtype), value_states, *others, **more)


def _linear(post: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Linear map in float32 even under autocast, because rounding to bf16 would inflate the logits' rank."""
    with torch.autocast(post.device.type, enabled=False):
        return F.linear(post.float(), weight, bias)
