"""Loading of the config's truths: EvaByte, or any causal language model whose ids are bytes or a tokenizer's tokens."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor

from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.vocabulary import (
    AUTO,
    FAST,
    Before,
    Vocabulary,
    as_before,
    as_ids,
    check_same,
    ids_before_texts,
    listed,
    load_tokenizer,
    warn_once,
)
from oversmoothing.data.windows import read_texts
from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained import auto as pretrained
from oversmoothing.models.pretrained.folder import CONFIG, check_folder, read_json, read_tensors
from oversmoothing.models.truths.evabyte import load_evabyte
from oversmoothing.models.truths.token_model import BYTES, TokenModel, byte_table, check_rows
from oversmoothing.models.truths.trial import adapted

SLOW_CONFIG = "tokenizer_config.json"  # of transformers, which reads it or not, by version
# Names of the ids with which models begin every text. <s> is not among them: many vocabularies have it for other uses.
BEGINNINGS = (
    ("[gMASK]", "<sop>"),  # GLM
    ("<bos>",),  # Gemma
    ("<|begin_of_text|>",),  # Llama 3
    ("<BOS_TOKEN>",),  # Command R
    ("<\uff5cbegin\u2581of\u2581sentence\uff5c>",),  # DeepSeek
)


class Described(NamedTuple):
    """What the files of a model over tokens say without its weights."""

    context: int  # the longest, in tokens
    cap: float | None  # c of logits c tanh(z / c)


def load_truth(
    manifest: str | Path,
    name: str,
    settings: Mapping[str, Any],
    device: torch.device,
    precision: str,
    vocabulary: Vocabulary | None = None,
    tokenizer: str | Path | None = None,
    windows: str | Path | None = None,
) -> TokenModel:
    """Return the truth from the files that a manifest lists (`oversmoothing.hub.client`); `vocabulary` is the study's.

    A model over tokens must divide the texts of `windows`, a file, as `tokenizer` does, the file of the study's. The
    settings are ``layout``, ``bos``, for "causal_lm" ``byte_offset``, as in the config's truths, and for a member of
    the family ``capped``, whether its logits are, which decides what is measured of it.
    """
    folder = asset_folder(manifest)
    if vocabulary is not None:
        model = load_token_lm(folder, name, vocabulary, settings["bos"], device, precision)
        if tokenizer:
            check_alike(load_tokenizer(tokenizer), folder, name, read_texts(windows) if windows else ())
        if "capped" in settings:
            _check_said(model, Path(folder) / CONFIG, settings["capped"])
        return model
    if settings["layout"] == "evabyte":
        return load_evabyte(folder, name, device, precision, settings["bos"])
    return load_causal_lm(folder, name, settings["byte_offset"], settings["bos"], device, precision)


def load_token_lm(
    folder: str | Path, name: str, vocabulary: Vocabulary, bos: Before | str, device: torch.device, precision: str
) -> TokenModel:
    """Return the causal language model of transformers over the tokens of a study.

    `vocabulary` must be the model's own.

    `bos` is prepended to every text; "auto" are the ids that the model's tokenizer puts there, if any. The head is
    float32 and exactly as stored, times any factor of the logits, whatever the `precision` of the other weights.
    Errors are those of `pretrained.auto.load_causal_lm`, and others if the logits are neither a linear map of the state
    nor, for a model with a softcap, the capped ones.
    """
    check_same(folder, vocabulary, name)
    first = first_ids(folder, bos)
    model = _loaded(folder, name, device, precision)
    weight = _as_stored(folder, model.get_output_embeddings().weight, name)
    return adapted(name, folder, model, weight, torch.tensor(vocabulary.ids, dtype=torch.int64), first, "tokens")


def check_token_lm(folder: str | Path, name: str, vocabulary: Vocabulary, bos: Before | str = AUTO) -> Described:
    """Check a model as `load_token_lm` does, but for what needs its weights; return what its files say."""
    check_same(folder, vocabulary, name)
    first, model = first_ids(folder, bos), pretrained.outline(folder, name)
    check_rows(name, len(model.get_output_embeddings().weight), int(vocabulary.ids.max()), first)
    cap = pretrained.softcap_in(model.config, Path(folder) / CONFIG, name)
    return Described(pretrained.context_of(model) - len(first), cap)


def load_causal_lm(
    folder: str | Path, name: str, byte_offset: int, bos: Before, device: torch.device, precision: str
) -> TokenModel:
    """Return the causal language model of transformers in which byte b is the id b + `byte_offset`.

    Its head is always float32. Errors are those of `pretrained.auto.load_causal_lm`, and others if there are fewer than
    256 ids for bytes, or the logits are not the head times the last hidden state, capped where the config says so.
    """
    model = _loaded(folder, name, device, precision)
    weight = model.get_output_embeddings().weight
    rows = len(weight)
    if byte_offset + BYTES > rows:
        raise UserError(f"{name}: byte_offset {byte_offset} leaves no room for 256 bytes among its {rows} ids")
    return adapted(name, folder, model, weight, byte_table(byte_offset), as_ids(bos), "bytes")


def first_ids(folder: str | Path, bos: Before | str) -> tuple[int, ...]:
    """Return the ids that stand before every text, and warn where "auto" may not be those of the model's training."""
    if bos != AUTO:
        assert not isinstance(bos, str)
        return as_ids(bos)
    path, beside = Path(folder) / FAST, Path(folder) / SLOW_CONFIG
    first = ids_before_texts(tokenizer := load_tokenizer(path))
    said = read_json(beside) if beside.is_file() else {}
    puts = {0: "no id", 1: "the id "}.get(len(first), "the ids ") + listed(first)
    usual = _usual(tokenizer)
    if usual and len(first) < len(usual) and (len(usual) > 1 or said.get("add_bos_token") is None):
        names = " and ".join(str(tokenizer.id_to_token(id)) for id in usual)
        warn_once(
            f"{path}: models with {names} in their vocabulary begin every text so, but it puts {puts} there; --bos "
            f"{listed(usual)}, or `bos: {as_before(usual)}` in a config, would"
        )
    elif said.get("add_bos_token") is (not first):
        name = said.get("bos_token")
        name = name.get("content") if isinstance(name, dict) else name
        other = tokenizer.token_to_id(name) if isinstance(name, str) and not first else None
        instead = "none" if first else "ID" if other is None else other
        warn_once(
            f"{beside}: `add_bos_token: {str(not first).lower()}`, but {FAST} puts {puts} before a text, and that "
            f"is what is used; `bos` in a config, or --bos {instead}, would change it"
        )
    return first


def _usual(tokenizer: Tokenizer) -> list[int]:
    """Return the special ids with which models of a vocabulary are known to begin every text."""
    special = {token.content: id for id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    return next(([special[name] for name in names] for names in BEGINNINGS if special.keys() >= set(names)), [])


def _loaded(folder: str | Path, name: str, device: torch.device, precision: str) -> Any:
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    return pretrained.load_causal_lm(folder, dtype, name, device).requires_grad_(False)


def _check_said(model: TokenModel, path: Path, capped: bool) -> None:
    """Raise a `UserError` if the study's config says otherwise of a member's cap than the model's does."""
    if model.cap is not None and not capped:
        raise UserError(
            f"{model.name}: {path}: its logits are capped at {model.cap:g}; write `capped: true` beside its `hub`, "
            "which leaves out what needs linear logits: TBAT, and what its head forces"
        )
    if model.cap is None and capped:
        raise UserError(f"{model.name}: {path}: its logits are not capped; remove `capped: true` beside its `hub`")


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
