"""Loading of the config's truths: EvaByte, or any causal language model whose ids are bytes or a tokenizer's tokens."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from oversmoothing.data.tokens.vocabulary import FAST, Vocabulary, check_same, id_before_texts, load_tokenizer
from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained import auto as pretrained
from oversmoothing.models.pretrained.folder import CONFIG, check_folder, read_tensors
from oversmoothing.models.truths.evabyte import load_evabyte
from oversmoothing.models.truths.token_model import BYTES, TokenModel, byte_table, check_rows

PROBE = 8  # tokens on which head and cache are tested
AUTO = "auto"
# Keys of configs of transformers. Of a softcap c, the logits are c tanh(logits / c).
SOFTCAPS = ("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
FACTORS = {"logit_scale": 1, "lm_head_multiplier": 1, "logits_scaling": -1}  # exponents of factors of the logits


def load_truth(
    manifest: str | Path,
    name: str,
    settings: Mapping[str, Any],
    device: torch.device,
    precision: str,
    vocabulary: Vocabulary | None = None,
) -> TokenModel:
    """Truth from the files that a manifest lists (`oversmoothing.hub.client`); `vocabulary` is the study's.

    The settings are ``layout``: "evabyte", "causal_lm" or "tokens"; ``bos``: for the first whether EvaByte's own id is
    prepended to every text, for the others an id or None, for the last also "auto"; for "causal_lm" ``byte_offset``.
    """
    folder, layout = asset_folder(manifest), settings["layout"]
    if layout not in ("evabyte", "causal_lm", "tokens"):
        raise UserError(f"{name}: layout {layout!r} is not known; write evabyte, causal_lm or tokens")
    if (layout == "tokens") != (vocabulary is not None):
        raise UserError(
            f"{name}: with `layout: {layout}` a model reads {'tokens' if layout == 'tokens' else 'bytes'}, but the "
            f"study's texts are {'bytes' if vocabulary is None else 'tokens'}"
        )
    if vocabulary is not None:
        return load_token_lm(folder, name, vocabulary, settings["bos"], device, precision)
    if layout == "evabyte":
        return load_evabyte(folder, name, device, precision, settings["bos"])
    return load_causal_lm(folder, name, settings["byte_offset"], settings["bos"], device, precision)


def load_token_lm(
    folder: str | Path, name: str, vocabulary: Vocabulary, bos: int | str | None, device: torch.device, precision: str
) -> TokenModel:
    """Causal language model of transformers over the tokens of a study, whose `vocabulary` must be the model's own.

    `bos` is prepended to every text; "auto" is the id that the model's tokenizer puts there, if any. The head is
    float32 and exactly as stored, times any factor of the logits, whatever the `precision` of the other weights.
    Errors are those of `pretrained.auto.load_causal_lm`, and others if no linear map leads from state to logits.
    """
    check_same(folder, vocabulary, name)
    bos = _first(folder, bos)
    model = _loaded(folder, name, device, precision)
    factor = _factor(model.config, Path(folder) / CONFIG, name)
    head = model.get_output_embeddings()
    bias = getattr(head, "bias", None)
    weight = factor * _as_stored(folder, head.weight, name).float()
    bias = None if bias is None else factor * bias.float()
    table = torch.tensor(vocabulary.ids, dtype=torch.int64)
    return _tried(TokenModel(name, model.base_model, weight, bias, table, bos, _context(model)), model, precision)


def check_token_lm(folder: str | Path, name: str, vocabulary: Vocabulary, bos: int | str | None = AUTO) -> int:
    """Check a model as `load_token_lm` does, but for what needs its weights; return its longest context in tokens."""
    check_same(folder, vocabulary, name)
    first, model = _first(folder, bos), pretrained.outline(folder, name)
    _factor(model.config, Path(folder) / CONFIG, name)
    check_rows(name, len(model.get_output_embeddings().weight), int(vocabulary.ids.max()), first)
    return _context(model) - (first is not None)


def load_causal_lm(
    folder: str | Path, name: str, byte_offset: int, bos: int | None, device: torch.device, precision: str
) -> TokenModel:
    """Causal language model of transformers in which byte b is the id b + `byte_offset`; its head is always float32.

    Errors are those of `pretrained.auto.load_causal_lm`, and others if there are fewer than 256 ids for bytes, or the
    logits are not the head times the last hidden state.
    """
    model = _loaded(folder, name, device, precision)
    _check_uncapped(model.config, Path(folder) / CONFIG, name)
    head = model.get_output_embeddings()
    rows = len(head.weight)
    if byte_offset + BYTES > rows:
        raise UserError(f"{name}: byte_offset {byte_offset} leaves no room for 256 bytes among its {rows} ids")
    bias, table = getattr(head, "bias", None), byte_table(byte_offset)
    truth = TokenModel(name, model.base_model, head.weight, bias, table, bos, _context(model), "bytes")
    return _tried(truth, model, precision)


def _first(folder: str | Path, bos: int | str | None) -> int | None:
    """Return the id that stands before every text."""
    if bos == AUTO:
        return id_before_texts(load_tokenizer(Path(folder) / FAST), Path(folder) / FAST)
    assert bos is None or isinstance(bos, int)
    return bos


def _loaded(folder: str | Path, name: str, device: torch.device, precision: str) -> Any:
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    return pretrained.load_causal_lm(folder, dtype, name, device).requires_grad_(False)


def _context(model: Any) -> int:
    """Longest context in ids; a model without a limit, such as one with rotary positions, is limited by the windows."""
    return pretrained.context_of(model) or sys.maxsize


def _check_uncapped(config: Any, path: Path, name: str) -> None:
    """Raise a `UserError` if a model caps its logits; `_tried` overlooks a cap far above those of its few tokens."""
    for key in SOFTCAPS:
        if getattr(config, key, None) is not None:
            raise UserError(
                f"{name}: {path}: {key} is {getattr(config, key)!r}: its logits are capped, so they are not its head "
                "times its last hidden state; such a model cannot be used here"
            )


def _factor(config: Any, path: Path, name: str) -> float:
    """Product of the factors that a model applies to its logits; a `UserError` if it applies something else to them."""
    _check_uncapped(config, path, name)
    factor = 1.0
    for key, exponent in FACTORS.items():
        value = getattr(config, key, None)
        if value is None:
            continue
        if not (isinstance(value, int | float) and 0 < value < float("inf")):
            raise UserError(f"{name}: {path}: {key} is {value!r}, not a factor of its logits; it cannot be used here")
        factor *= value**exponent
    return factor


def _as_stored(folder: str | Path, weight: Tensor, name: str) -> Tensor:
    """Return a head without the rounding to the precision in which the model was loaded, from its files."""
    content, loaded = check_folder(folder), weight.cpu()
    alike = {key: file for key, file in content.files.items() if content.shapes[key] == tuple(weight.shape)}
    for _, tensor in read_tensors(alike):
        if torch.equal(tensor.to(loaded.dtype), loaded):
            return tensor.to(weight.device)
    raise UserError(
        f"{name}: no tensor in the files of {folder} is its head: it is stored in another form, such as quantised, or "
        "its weights are not all numbers; it cannot be used here"
    )


@torch.inference_mode()
def _tried(truth: TokenModel, model: Any, precision: str) -> TokenModel:
    """Return a truth if its logits are a linear map of its last hidden state, with cached keys and values or not."""
    tolerance = 0.05 if precision == "bf16" else 1e-3
    tokens = torch.arange(PROBE, device=truth.table.device)[None] * 31 % len(truth.table)
    logits = truth.logits(truth.hidden(tokens)[1])
    expected = model(input_ids=truth.ids(tokens), use_cache=False).logits[:, -PROBE:, truth.table].float()
    if not (error := _error(logits, expected)) < tolerance:
        raise UserError(
            f"{truth.name}: its logits are not its head times its last hidden state (off by {error:.0%} of the "
            "largest); such a model cannot be a truth here"
        )
    cache = truth.cache(PROBE)
    cache.feed(tokens[:, :-1])
    if not (error := _error(cache.feed(tokens[:, -1:]), expected[:, -1])) < tolerance:
        raise UserError(
            f"{truth.name}: fed token by token, its logits are others (off by {error:.0%} of the largest); without a "
            "cache of keys and values it cannot be a truth here"
        )
    return truth


def _error(logits: Tensor, expected: Tensor) -> float:
    """Largest difference as a share of the largest value."""
    return float((logits - expected).abs().max() / expected.abs().max().clamp(min=1e-6))
