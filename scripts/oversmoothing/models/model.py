"""The byte-level GPT and its bottleneck.

GPT-2 blocks (Radford et al. 2019), without biases unless asked for, and a head of a chosen rank. With
``bottleneck_norm="after"``, as in the training of the thesis's models, the last layers are::

    blocks -> Linear(width -> r) -> LayerNorm(r) -> Linear(r -> v)

and with ``"before"``, as in the thesis's Figure 2.1::

    blocks -> LayerNorm(width) -> Linear(width -> r) -> Linear(r -> v)

Without a bottleneck they are those of GPT-2: ``blocks -> LayerNorm(width) -> Linear(width -> v)``. Embedding and head
are never tied, which is impossible for r != width. The last Linear may be part of an output layer that is not linear
(`output_layers`).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from oversmoothing.models.gpt_config import BYTES, GPTConfig
from oversmoothing.models.head_gradient import head_through
from oversmoothing.models.output_kinds import KINDS, LINEAR
from oversmoothing.models.output_layers import OutputLayer


class GPT(nn.Module):
    """A GPT-2 whose LM head reads a vector of width `config.rank`, or several, each through a bottleneck of its own.

    The initial weights are a function of `seed` and `initial` (see `initial_std`); models that differ only in rank, or
    only in classes beyond the 256 of bytes, start from the same other weights. Biases start at 0.
    """

    def __init__(self, config: GPTConfig, seed: int = 0, initial: str = "gpt2") -> None:
        super().__init__()
        self.config = config
        width, out = config.width, config.rank or config.width
        self.embedding = nn.Embedding(config.vocabulary, width)
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(config.block, width)
        else:
            angles = rotary_angles(width // config.heads, config.block)
            self.register_buffer("rotary", torch.stack((angles.cos(), angles.sin())), persistent=False)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config, reach) for reach in config.reaches)
        as_it_is = config.rank is None and config.entering == width
        self.bottleneck = nn.Identity() if as_it_is else nn.Linear(width, config.entering, bias=False)
        self.norm = nn.LayerNorm(width if config.bottleneck_norm == "before" else out, bias=False)
        self.head = nn.Linear(KINDS[config.output].reads(out), config.vocabulary, bias=False)
        # After all else, so that a model with more weights starts from the weights of one without.
        self.output = None if config.output == LINEAR else OutputLayer(config.output, out)
        self.backward_head: Tensor | None
        self.register_buffer("backward_head", None, persistent=False)  # set in training with `backward_rank`
        self._initialise(torch.Generator().manual_seed(seed), initial)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (batch, time) to float32 logits (batch, time, v)."""
        return self.logits(self.hidden(tokens)[1])

    def hidden(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Map tokens (batch, time) to the inputs of the bottleneck (batch, time, width) and of the head (..., n r).

        Without a bottleneck the first is the input or output of the last LayerNorm, depending on `bottleneck_norm`.
        """
        time = tokens.shape[1]
        if time > self.config.block:
            raise ValueError(f"{time} tokens do not fit into a block of {self.config.block}")
        x = self.embedding(tokens)
        rotary = None
        if self.config.positions == "learned":
            x = x + self.position_embedding.weight[:time]
        else:
            rotary = self.get_buffer("rotary")[:, :time]
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, rotary)
        return self.narrowed(x)

    def narrowed(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map the output of the blocks to what `hidden` returns."""
        if self.config.bottleneck_norm == "before":
            pre = self.norm(x)
            return pre, self.bottleneck(pre)
        vectors = self.bottleneck(x).unflatten(-1, (-1, *self.norm.normalized_shape))
        return x, self.norm(vectors).flatten(-2)

    def logits(self, post: Tensor) -> Tensor:
        """Apply the head, or the output layer around it, in float32, even under autocast.

        Rounding the logits to bf16 would add noise in all v dimensions and thus inflate their rank. If `backward_head`
        is set, the gradient reaches the trunk through it.
        """
        with torch.autocast(post.device.type, enabled=False):
            if self.output is not None:
                return self.output(post, self.head.weight)
            if self.backward_head is not None and self.training:
                return head_through(post.float(), self.head.weight.float(), self.backward_head)
            return F.linear(post.float(), self.head.weight.float())

    def _initialise(self, generator: torch.Generator, initial: str) -> None:
        # Drawn after all else: rows of classes beyond those of bytes, and of the bottlenecks of further vectors.
        later: list[tuple[Tensor, float]] = []
        first = dict.fromkeys(("embedding.weight", "head.weight"), BYTES)
        first["bottleneck.weight"] = self.config.rank or self.config.width
        for name, parameter in self.named_parameters():
            if name.endswith(".bias"):
                parameter.data.zero_()
            elif parameter.dim() >= 2:
                std = initial_std(name, parameter, initial, self.config)
                rows = first.get(name, len(parameter))
                later += [(parameter.data[rows:], std)] if len(parameter) > rows else []
                nn.init.normal_(parameter.data[:rows], std=std, generator=generator)
        for further, std in later:
            nn.init.normal_(further, std=std, generator=generator)


def initial_std(name: str, parameter: Tensor, initial: str, config: GPTConfig) -> float:
    """Return the standard deviation from which a matrix of a GPT starts, as the config says of `initial`.

    Of "gpt2" it is that of Radford et al. (2019); of "fan_in" of LeCun et al. (1998), times the factor of an output
    layer that is not linear, `OutputKind.gain`; of "flat" of Murugan (2026), with that of Glorot and Bengio (2010) for
    the attention's inputs. In the first two, projections into the residual stream are divided by sqrt(2 layers).
    """
    outputs, inputs = parameter.shape
    if initial in ("gpt2", "fan_in"):
        std = {"gpt2": 0.02, "fan_in": 1 / math.sqrt(1 if name.endswith("embedding.weight") else inputs)}[initial]
        residual = name.endswith(("attention.out.weight", "feed_forward.out.weight"))
        gain = KINDS[config.output].gain if (name, initial) == ("head.weight", "fan_in") else 1.0
        return std * gain * (1 / math.sqrt(2 * config.layers) if residual else 1.0)
    if name.endswith("query_key_value.weight"):
        return math.sqrt(2 / (inputs + outputs))
    if config.rank and name in ("bottleneck.weight", "head.weight"):
        return {"flat": 0.02, "matched": math.sqrt(0.02 / math.sqrt(config.rank))}[initial]
    return 0.02


class Block(nn.Module):
    """Pre-norm transformer block: attention, then a feed-forward network, each with a residual connection."""

    def __init__(self, config: GPTConfig, reach: int | None = None) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width, bias=config.biases)
        self.attention = Attention(config, reach)
        self.feed_forward_norm = nn.LayerNorm(config.width, bias=config.biases)
        self.feed_forward = FeedForward(config)

    def forward(self, x: Tensor, rotary: Tensor | None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), rotary)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Attention(nn.Module):
    """Causal multi-head self-attention, which sees `reach` tokens before its own, or all."""

    def __init__(self, config: GPTConfig, reach: int | None = None) -> None:
        super().__init__()
        self.reach = reach
        self.heads = config.heads
        self.dropout = config.dropout
        self.query_key_value = nn.Linear(config.width, 3 * config.width, bias=config.biases)
        self.out = nn.Linear(config.width, config.width, bias=config.biases)
        self.residual_dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, rotary: Tensor | None) -> Tensor:
        batch, time, width = x.shape
        qkv = self.query_key_value(x).view(batch, time, 3, self.heads, width // self.heads)
        query, key, value = qkv.transpose(1, 3).unbind(dim=2)
        if rotary is not None:
            query, key = rotate(query, *rotary), rotate(key, *rotary)
        mixed = attend(query, key, value, self.dropout if self.training else 0.0, self.reach)
        mixed = mixed.transpose(1, 2).reshape(batch, time, width)
        return self.residual_dropout(self.out(mixed))


class FeedForward(nn.Module):
    """Two linear maps with a GELU between them and a hidden width of four times the model's."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.into = nn.Linear(config.width, 4 * config.width, bias=config.biases)
        self.out = nn.Linear(4 * config.width, config.width, bias=config.biases)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.out(F.gelu(self.into(x))))


def attend(query: Tensor, key: Tensor, value: Tensor, dropout: float, reach: int | None = None) -> Tensor:
    """Return causal attention to `reach` tokens before each, or to all.

    All tensors have shape (batch, heads, time, size). For training on a CPU in bf16, PyTorch's fused kernel is twice as
    slow as explicit products, whose time x time weights fit into memory for short blocks.
    """
    time, size = query.shape[-2:]
    beyond = None  # where a token is too far back
    if reach is not None and reach < time - 1:
        beyond = torch.ones(time, time, dtype=torch.bool, device=query.device).tril(-reach - 1)
    if query.device.type == "cpu" and query.dtype == torch.bfloat16 and query.requires_grad and time <= 512:
        future = torch.full((time, time), -math.inf, dtype=query.dtype).triu(1)
        future = future if beyond is None else future.masked_fill(beyond, -math.inf)
        q, k, v = query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
        scores = torch.baddbmm(future.expand(len(q), time, time), q, k.transpose(1, 2), alpha=size**-0.5)
        return torch.bmm(F.dropout(scores.softmax(dim=-1), dropout), v).view(value.shape)
    if beyond is not None:
        seen = ~(beyond | beyond.new_ones(time, time).triu(1))
        return F.scaled_dot_product_attention(query, key, value, attn_mask=seen, dropout_p=dropout)
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=dropout)


def rotary_angles(size: int, block: int, base: float = 10_000.0) -> Tensor:
    """Return angles (block, size / 2) by which each position rotates each pair of a head's dimensions."""
    frequencies = base ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    return torch.outer(torch.arange(block, dtype=torch.float32), frequencies)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the pairs (i, i + size / 2) of `x` (..., time, size) by the angles of their positions."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
