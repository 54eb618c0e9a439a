"""A causal language model of transformers as a model over bytes, with the shape that `GPT` has to its users.

Such a model has more ids than bytes: byte b is the id b + `byte_offset`, the others are special ones. As in the
thesis (3.2), the softmax is taken over the 256 bytes alone; what the special ids held before is reported.
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
    """The shape of such a model.

    Attributes
    ----------
    layers, width : int
    block : int
        Longest context in bytes; the beginning-of-sentence id is not counted.
    rank : None
        There is no bottleneck.
    vocabulary : int
        256.
    """

    layers: int
    width: int
    block: int
    rank: None = None
    vocabulary: int = BYTES


class ByteModel:
    """A trunk and a head of transformers that read bytes and predict them.

    Parameters
    ----------
    name : str
        For messages.
    trunk : transformers.PreTrainedModel
        From ids to ``last_hidden_state``, in evaluation mode on its device; one that remembers by keys and values.
    weight : tensor, shape (ids, width)
        The LM head; it is applied in float32.
    bias : tensor, shape (ids,), or None
        Of the head.
    byte_offset : int
        The id of byte 0.
    bos : int or None
        An id put before every text.
    context : int
        Longest context in ids.

    Raises
    ------
    UserError
        If the head has no 256 ids from `byte_offset` on, or `bos` is none of its ids.
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
        # The rows of the special ids, of which there may be none.
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
            Twice what enters the head, since there is no bottleneck.

        Raises
        ------
        UserError
            If the context is too long.
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
        """Apply the head's rows of bytes in float32: logits (..., 256)."""
        return _linear(post, self.head.weight, self.head.bias)

    def special_mass(self, post: Tensor) -> Tensor:
        """Return the probability (...) that all ids but the bytes have, before they are left out.

        Raises
        ------
        UserError
            If a logit is not finite.
        """
        bytes_, special = self.logits(post), _linear(post, *self.special)
        if not (bytes_.isfinite().all() and special.isfinite().all()):
            raise UserError(f"{self.name}: its logits are not all finite numbers; its weights are damaged")
        return torch.sigmoid(special.logsumexp(dim=-1) - bytes_.logsumexp(dim=-1))

    def ids(self, tokens: Tensor, first: bool = True) -> Tensor:
        """Turn bytes (batch, time) into ids; `first`: at the beginning of a text, where `bos` goes before them."""
        ids = tokens + self.byte_offset
        return F.pad(ids, (1, 0), value=self.bos) if first and self.bos is not None else ids

    def cache(self, length: int) -> "ByteCache":
        """Begin texts of up to `length` bytes (see `ByteCache`)."""
        return ByteCache(self, length)


class ByteCache:
    """The keys and values of texts that grow together; it stands where `samples.cache.Cache` stands for a GPT."""

    def __init__(self, model: ByteModel, length: int) -> None:
        if length > model.config.block:
            raise ValueError(f"{length} bytes do not fit into a block of {model.config.block}")
        self.model = model
        self.memory = _Memory(config=model.trunk.config)
        self.begun = False

    def feed(self, tokens: Tensor) -> Tensor:
        """Read the next bytes (n, time) of every text; return float32 logits (n, 256) of the byte that follows."""
        ids = self.model.ids(tokens, first=not self.begun)
        self.begun = True
        output = self.model.trunk(input_ids=ids, past_key_values=self.memory, use_cache=True)
        return self.model.logits(output.last_hidden_state[:, -1])

    def reorder(self, rows: Tensor, start: int) -> None:
        """Let text i go on from what text ``rows[i]`` (n,) has read; before `start` they are the same."""
        self.memory.reorder_cache(cast(torch.LongTensor, rows))


class _Memory(DynamicCache):
    """Keys and values in one precision: rotating positions makes keys float32 where values are bf16."""

    def update(self, key_states: Tensor, value_states: Tensor, *others: Any, **more: Any) -> tuple[Tensor, Tensor]:
        return super().update(key_states.to(value_states.dtype), value_states, *others, **more)


def _linear(post: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Multiply in float32, whatever the precision around it: bf16 rounding would inflate the logits' rank."""
    with torch.autocast(post.device.type, enabled=False):
        return F.linear(post.float(), weight, bias)
