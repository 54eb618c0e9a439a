"""Trial of a causal language model of transformers: what its logits are made of, and whether its adapter has the same.

A config need not say what a model does behind its trunk, so it is measured: the factors before and behind the head,
and the rows that the model gives no probability. Then a few tokens are run through the model and its adapter.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import context_of, one_line_errors, softcap_in
from oversmoothing.models.pretrained.folder import CONFIG
from oversmoothing.models.truths.token_model import (
    PROBE,
    TokenModel,
    begun,
    check_rows,
    error_of,
    linear,
    probe,
    typical_error,
)
from oversmoothing.numerics.softcap import softcapped

LARGE = 1e4, 3.0  # how large the logits of a trial are made: in themselves, or under a cap, in units of the cap
TINY = 1e-6  # and how small, so that no cap acts on them
ROUNDING = 1e-6  # a factor this near to 1 is 1
NEVER = -1e30  # a logit below it gives no probability: minus infinity, or a mask


@torch.inference_mode()
def adapted(
    name: str, folder: str | Path, model: Any, weight: Tensor, table: Tensor, bos: Sequence[int], unit: str
) -> TokenModel:
    """Return the adapter of a model from a folder, if its logits are the model's.

    The head (rows, width) of the model is `weight` as stored.

    `table`, `bos` and `unit` are those of `TokenModel`. A `UserError` says what differs: the model's logits are to be
    those of its head times its last hidden state, up to factors and a cap, and to depend on no token that follows.
    """
    cap, context = softcap_in(model.config, Path(folder) / CONFIG, name), context_of(model)
    head, trunk = model.get_output_embeddings(), _trunk(name, model)
    check_rows(name, len(weight), int(table.max()), bos, unit)
    tokens = probe(PROBE, len(table)).to(weight.device)
    ids = begun(table.to(weight.device)[tokens], bos)
    before, behind = _factors(name, model, trunk, ids)
    expected = _logits(name, model, ids)[:, -PROBE:]
    if expected.isnan().any():
        raise UserError(f"{name}: its logits are NaN; check its config.json, and fetch or copy its weights again")
    absent = (expected < NEVER).flatten(0, -2).all(dim=0)
    if (never := absent[table]).any():
        raise UserError(f"{name}: it gives id {int(table[never.cpu()][0])} no probability, but its tokenizer writes it")
    bias = getattr(head, "bias", None)
    truth = TokenModel(
        name,
        trunk,
        before * behind * weight.float(),
        None if bias is None else behind * bias.float(),
        table,
        bos,
        context,
        unit,
        cap,
        absent,
        _is_tied(model),
    )
    _check(truth, tokens, expected, lambda scale: _logits(name, model, ids, scale)[:, -PROBE:])
    return truth


def _check(truth: TokenModel, tokens: Tensor, expected: Tensor, scaled: Callable[[float], Tensor]) -> None:
    """Raise a `UserError` if an adapter's logits of tokens are not those `expected` (1, PROBE, rows).

    Logits of a few tokens may lie so far below a cap that they look linear. So what leaves the head is also made large
    on its way: then a cap shows, whether the config names it or not, and so does one that is named but not used.
    `scaled` returns the model's logits with what leaves the head multiplied by a number.
    """
    post, ending = truth.hidden(tokens)[1], "such a model cannot be a truth here"
    what = "its logits are not its head times its last hidden state" + (
        "" if truth.cap is None else f", capped at {truth.cap:g} as its config says"
    )
    if post.shape[-1] != truth.config.width:
        raise UserError(
            f"{truth.name}: {what} (of {post.shape[-1]} numbers, its head takes {truth.config.width}); {ending}"
        )
    others = torch.ones(expected.shape[-1], dtype=torch.bool, device=expected.device)
    others[truth.table] = False
    logits = torch.empty_like(expected)
    logits[..., truth.table], logits[..., others] = truth.logits(post), truth.special_logits(post)
    given = expected >= NEVER
    if not (error := error_of(logits[given], expected[given])) < truth.tolerance:
        raise UserError(f"{truth.name}: {what} (off by {error:.0%} of the largest); {ending}")
    z = linear(post, truth.head.weight, truth.head.bias)
    scale = (LARGE[0] if truth.cap is None else LARGE[1] * truth.cap) / float(z.abs().max().clamp(min=1e-6))
    error = error_of(softcapped(scale * z, truth.cap), scaled(scale)[..., truth.table])
    if not error < truth.tolerance:
        raise UserError(f"{truth.name}: where they are large, {what} (off by {error:.0%} of the largest); {ending}")
    half = PROBE // 2
    error = typical_error(truth.logits(truth.hidden(tokens[:, :half])[1]), expected[:, :half, truth.table])
    if not error < truth.tolerance:
        raise UserError(
            f"{truth.name}: its logits depend on tokens that follow (by {error:.0%} of the largest), so that it is no "
            f"causal language model; {ending}"
        )


def _trunk(name: str, model: Any) -> Any:
    """Return the part of a model that ends before its head."""
    if model.base_model is not model:
        return model.base_model
    parts = [part for part in model.children() if isinstance(part, PreTrainedModel)]
    if len(parts) != 1:
        raise UserError(f"{name}: its class, {type(model).__name__}, does not say which part precedes its head")
    return parts[0]


def _is_tied(model: Any) -> bool:
    """Return whether a model's head has the values of its embedding, whatever its config says."""
    head, embedding = model.get_output_embeddings().weight, model.get_input_embeddings()
    embedded = getattr(embedding, "weight", None)
    return embedded is not None and head.shape == embedded.shape and torch.equal(head, embedded)


def _running(name: str, model: Any) -> AbstractContextManager[None]:
    precision = " in bf16; try float32" if model.dtype == torch.bfloat16 else ""
    return one_line_errors(f"{name}: it does not run{precision}")


def _logits(name: str, model: Any, ids: Tensor, scale: float = 1.0) -> Tensor:
    """Return float32 logits of a model, with what leaves its head multiplied by `scale` on its way."""
    hook = model.get_output_embeddings().register_forward_hook(lambda head, given, output: scale * output)
    with _running(name, model):
        logits: Tensor = model(input_ids=ids, use_cache=False).logits.float()
    hook.remove()
    return logits


def _factors(name: str, model: Any, trunk: Any, ids: Tensor) -> tuple[float, float]:
    """Return by what a model multiplies its last hidden state before the head, and what leaves the head behind it.

    What leaves the head is made so small on its way that no cap acts on it, and exact enough for a factor of float32.
    """
    head, seen = model.get_output_embeddings(), {}

    def leave(head: Any, given: Any, output: Tensor) -> Tensor:
        seen["entered"], seen["left"] = given[0], TINY * output.double()
        return seen["left"]

    hook = head.register_forward_hook(leave)
    with _running(name, model):
        logits = model(input_ids=ids, use_cache=False).logits
        state = trunk(input_ids=ids, use_cache=False).last_hidden_state
        factors = _ratio(seen["entered"], state), _ratio(logits, seen["left"])
    hook.remove()
    return factors


def _ratio(multiple: Tensor, of: Tensor) -> float:
    """Return the f of least squares of f * `of` to `multiple`, 1 up to rounding; 1 if there is none."""
    if multiple.shape != of.shape:
        return 1.0
    x, y = of.double(), multiple.double()
    used = x.isfinite() & (y > NEVER) & (y < -NEVER)
    factor = float((x[used] * y[used]).sum() / (x[used] ** 2).sum())
    return factor if abs(factor) > ROUNDING and abs(factor - 1) > ROUNDING else 1.0
