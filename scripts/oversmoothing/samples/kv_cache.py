"""Key-value cache of a GPT, so that each new token costs the work of one token."""

import math
from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor

from oversmoothing.models.model import GPT, Attention, Block, attend, rotate

NOT_FINITE = "the model's logits are not all finite numbers; its weights are damaged, or its training diverged"


def remember(model: Any, n: int, length: int, precision: str) -> Any:
    """Return a cache for n texts of up to `length` tokens (see `Cache`); models other than a GPT provide their own."""
    return Cache(model, n, length, precision) if isinstance(model, GPT) else model.cache(length)


class Cache:
    """The keys and values of n texts that grow together to `length` tokens, at most the model's block, in buffers.

    Keys and values have the precision of the blocks (`oversmoothing.models.device.autocast`).
    """

    def __init__(self, model: GPT, n: int, length: int, precision: str = "float32") -> None:
        config = model.config
        self.model = model
        self.filled = 0
        shape = (config.layers, 2, n, config.heads, length, config.width // config.heads)
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        self.buffers = torch.empty(shape, dtype=dtype, device=model.head.weight.device)

    def feed(self, tokens: Tensor) -> Tensor:
        """Read the next tokens of every text, int64 (n, time); return logits of the following one, float32 (n, v).

        The first call takes the prompts, later ones one token each.
        """
        model, time = self.model, tokens.shape[1]
        start, end = self.filled, self.filled + time
        assert end <= self.buffers.shape[4], "a further token would be left out of the attention"
        x = model.embedding(tokens)
        rotary = None
        if model.config.positions == "learned":
            x = x + model.position_embedding.weight[start:end]
        else:
            rotary = model.get_buffer("rotary")[:, start:end]
        blocks = cast(Iterable[Block], model.blocks)
        for block, (keys, values) in zip(blocks, self.buffers, strict=True):
            query, key, value = _project(block.attention, block.attention_norm(x), rotary)
            keys[:, :, start:end], values[:, :, start:end] = key, value
            if start:
                reach = block.attention.reach
                first = 0 if reach is None else max(0, start - reach)
                mixed = _attend(query, keys[:, :, first:end], values[:, :, first:end])
            else:
                mixed = attend(query, key, value, dropout=0.0, reach=block.attention.reach)
            x = x + block.attention.out(mixed.transpose(1, 2).flatten(2))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        self.filled = end
        last = x[:, -1]
        return model.logits(model.narrowed(last)[1])


def _project(attention: Attention, x: Tensor, rotary: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values, each (n, heads, time, size), of `x` (n, time, width)."""
    n, time, width = x.shape
    heads = attention.query_key_value(x).view(n, time, 3, attention.heads, width // attention.heads)
    query, key, value = heads.transpose(1, 3).unbind(dim=2)
    if rotary is not None:
        query, key = rotate(query, *rotary), rotate(key, *rotary)
    return query, key, value


def _attend(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Attend from one position to all in the cache; on a CPU two products are a third faster than the fused kernel.

    query (n, heads, 1, size); keys and values (n, heads, time, size), read in place.
    """
    n, heads, _, size = query.shape
    query = (query / math.sqrt(size)).reshape(n * heads, 1, size)
    weights = torch.bmm(query, keys.flatten(0, 1).transpose(1, 2)).softmax(dim=-1)
    return torch.bmm(weights, values.flatten(0, 1)).view(n, heads, 1, size)
