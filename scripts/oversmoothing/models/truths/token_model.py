"""Adapter of a causal language model of transformers to a model over bytes or tokens, with the interface of `GPT`.

Such a model has more ids than the study has tokens: token t (or byte t) is the id ``table[t]``, and the others are
special ids or rows that only pad the head to a round size. As in the thesis (3.2), the softmax is taken over the tokens
alone; the probability of the other ids is reported.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import DynamicCache

from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import one_line_errors
from oversmoothing.numerics.softcap import softcapped

BYTES = 256
PROBE = 8  # tokens of a trial


class Shape(NamedTuple):
    """Shape of such a model, by keys of `GPTConfig`; `block` does not count the ids before a text."""

    layers: int
    width: int
    block: int
    vocabulary: int
    entering: int


class TokenModel:
    """Trunk and head of a transformers model, in evaluation mode, that read and predict bytes or tokens."""

    def __init__(
        self,
        name: str,  # for messages
        trunk: Any,  # from ids to ``last_hidden_state``, with a cache of keys and values
        weight: Tensor,  # the head (rows, width), which is applied in float32
        bias: Tensor | None,  # (rows,)
        table: Tensor,  # int64 (v,), the id of each token, no id twice
        bos: Sequence[int],  # the ids prepended to every text
        context: int,  # the longest, in ids
        unit: str = "tokens",  # or "bytes", for messages
        cap: float | None = None,  # c of logits c tanh(z / c), z being the head's
        absent: Tensor | None = None,  # bool (rows,), ids, no tokens, to which the model gives no probability
        tied: bool = False,  # whether the head is the embedding
    ) -> None:
        rows, width = weight.shape
        check_rows(name, rows, int(table.max()), bos, unit)
        self.name, self.trunk, self.bos, self.unit, self.cap, self.tied = name, trunk, tuple(bos), unit, cap, tied
        self.table = table.to(weight.device)
        layers = trunk.config.get_text_config().num_hidden_layers
        self.config = Shape(layers, width, context - len(bos), len(table), width)
        is_special = torch.ones(rows, dtype=torch.bool, device=weight.device)
        is_special[self.table] = False
        weight, bias = weight.detach(), None if bias is None else bias.detach().float()
        self.head = nn.Linear(width, len(table), bias=bias is not None, device=weight.device).requires_grad_(False)
        self.head.weight.copy_(weight[self.table])
        if bias is not None:
            self.head.bias.copy_(bias[self.table])
        # The rows of the special ids, possibly none.
        beside = None if bias is None else bias[is_special]
        if absent is not None and absent.any():
            beside = torch.zeros(int(is_special.sum()), device=weight.device) if beside is None else beside.clone()
            beside[absent.to(weight.device)[is_special]] = -torch.inf
        self.special = weight[is_special].float(), beside
        self.remembered = 0  # tokens up to which a cache has been tried

    @property
    def tolerance(self) -> float:
        """Largest error of logits that rounding explains, as a share of the largest logit."""
        return 0.05 if any(weight.dtype == torch.bfloat16 for weight in self.trunk.parameters()) else 1e-3

    def hidden(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Map tokens (batch, time) to the head's input (batch, time, width), twice, since there is no bottleneck."""
        time = tokens.shape[1]
        if time > self.config.block:
            raise UserError(
                f"{self.name}: a context of {time} {self.unit} is longer than the {self.config.block} that it attends "
                "to exactly; shorten `windows`"
            )
        with one_line_errors(f"{self.name}: it does not run on {time} {self.unit}"):
            states = self.trunk(input_ids=self.ids(tokens), use_cache=False).last_hidden_state
        post = states[:, -time:]
        return post, post

    def logits(self, post: Tensor) -> Tensor:
        """Return float32 logits (..., v) of the tokens, capped where the model caps its logits."""
        return softcapped(linear(post, self.head.weight, self.head.bias), self.cap)

    def special_logits(self, post: Tensor) -> Tensor:
        """Return float32 logits (..., n) of the special ids.

        A logit is minus infinity where the model gives no probability.
        """
        return softcapped(linear(post, *self.special), self.cap)

    def special_mass(self, post: Tensor) -> Tensor:
        """Return the probability (...) of the special ids in the softmax over all ids.

        A `UserError` is raised if a logit is not finite.
        """
        logits, special = self.logits(post), self.special_logits(post)
        if not (logits.isfinite().all() and (special < torch.inf).all()):
            raise UserError(f"{self.name}: its logits are not all finite numbers; its weights are damaged")
        return torch.sigmoid(special.logsumexp(dim=-1) - logits.logsumexp(dim=-1))

    def ids(self, tokens: Tensor, first: bool = True) -> Tensor:
        """Return ids of tokens (batch, time); with `first`, the beginning of a text, `bos` is prepended."""
        ids = self.table[tokens]
        return begun(ids, self.bos) if first else ids

    def cache(self, length: int) -> "TokenCache":
        """Return a new `TokenCache` for texts of up to `length` tokens.

        A `UserError` is raised if the model cannot be read that way.
        """
        cache = TokenCache(self, length)
        if length > self.remembered:
            self._try_cache(length)
            self.remembered = length
        return cache

    @torch.inference_mode()
    def _try_cache(self, length: int) -> None:
        """Raise a `UserError` if logits of `length` tokens depend on whether they are read at once.

        So they do in a model without a cache of keys and values, and where positions change with the length of a text.
        Two texts are begun early and late, and grow by a few tokens.
        """
        tokens = probe(2 * length, len(self.table)).view(2, length).to(self.table.device)
        whole, start, few = self.hidden(tokens)[1], PROBE, PROBE // 2
        turns = self._frequencies()
        while start < length:
            part = self.hidden(tokens[:, :start])[1]
            error = typical_error(self.logits(part[:, -few:]), self.logits(whole[:, start - few : start]))
            if not error < self.tolerance or not all(map(torch.equal, turns, self._frequencies())):
                raise UserError(
                    f"{self.name}: its logits of {start} {self.unit} change once the text has {length} (by {error:.1%} "
                    "of the largest), so that it cannot be sampled from at this length; take shorter prompts or samples"
                )
            start *= 2
        without = "it can be measured on texts, but not sampled from"
        for begun in sorted({min(few, length), max(length - few, 1)}):
            cache, end = TokenCache(self, length), min(begun + few, length)
            with one_line_errors(f"{self.name}: it has no cache of keys and values; {without}"):
                logits = [cache.feed(tokens[:, :begun])]
                logits += [cache.feed(tokens[:, j : j + 1]) for j in range(begun, end)]
            error = typical_error(torch.stack(logits, dim=1), self.logits(whole[:, begun - 1 : end]))
            if not error < self.tolerance:
                raise UserError(
                    f"{self.name}: fed token by token, its logits are others (off by {error:.1%} of the largest); "
                    f"{without}"
                )

    def _frequencies(self) -> list[Tensor]:
        """Return frequencies of rotary positions, which in some models change with the length of a text."""
        return [buffer.clone() for name, buffer in self.trunk.named_buffers() if "inv_freq" in name]


class TokenCache:
    """Keys and values of texts of equal length, with the interface of `samples.kv_cache.Cache` for a GPT."""

    def __init__(self, model: TokenModel, length: int) -> None:
        if length > model.config.block:
            raise ValueError(f"{length} {model.unit} do not fit into a block of {model.config.block}")
        self.model = model
        self.memory = _Memory(config=model.trunk.config)
        self.begun = False

    def feed(self, tokens: Tensor) -> Tensor:
        """Append tokens (n, time) to the texts; return float32 logits (n, v) of the token that follows."""
        ids = self.model.ids(tokens, first=not self.begun)
        self.begun = True
        output = self.model.trunk(input_ids=ids, past_key_values=self.memory, use_cache=True)
        return self.model.logits(output.last_hidden_state[:, -1])


class _Memory(DynamicCache):
    """Keys and values in one precision, since rotary positions turn bf16 keys into float32."""

    def update(self, key_states: Tensor, value_states: Tensor, *others: Any, **more: Any) -> tuple[Tensor, Tensor]:
        return super().update(key_states.to(value_states.dtype), value_states, *others, **more)


def probe(length: int, count: int) -> Tensor:
    """Return tokens of a trial, int64 (1, length), of `count`."""
    return torch.arange(length)[None] * 31 % count


def error_of(logits: Tensor, expected: Tensor) -> float:
    """Return the largest difference as a share of the largest value."""
    return float((logits - expected).abs().max() / expected.abs().max().clamp(min=1e-6))


def typical_error(logits: Tensor, expected: Tensor) -> float:
    """Return what `error_of` returns, but in all positions other than a quarter.

    Rounding may choose other experts in a few.
    """
    errors = (logits - expected).abs().amax(dim=-1).flatten()
    return float(errors.quantile(0.75) / expected.abs().max().clamp(min=1e-6))


def begun(ids: Tensor, bos: Sequence[int]) -> Tensor:
    """Return ids (batch, time) behind those that stand before every text."""
    return torch.cat([torch.tensor(bos, dtype=ids.dtype, device=ids.device).expand(len(ids), -1), ids], dim=1)


def check_rows(name: str, rows: int, largest: int, bos: Sequence[int], unit: str = "tokens") -> None:
    """Raise a `UserError` if a head lacks a row for the largest id of its tokens, or for one of `bos`."""
    if largest >= rows:
        raise UserError(
            f"{name}: the largest id of its {unit} is {largest}, but its head has only {rows} rows; weights and "
            "tokenizer are of different models"
        )
    if odd := [id for id in bos if id >= rows]:
        raise UserError(f"{name}: bos {odd[0]} is none of its {rows} ids")


def byte_table(byte_offset: int) -> Tensor:
    """Return the id of each byte, int64 (256,), if byte 0 is the id `byte_offset`."""
    return byte_offset + torch.arange(BYTES)


def linear(post: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the linear map in float32 even under autocast, because rounding to bf16 would inflate the logits' rank."""
    with torch.autocast(post.device.type, enabled=False):
        return F.linear(post.float(), weight, bias)
