"""Causal language models and tokenizers from the hub, loaded with the Auto classes of transformers.

They are loaded offline from a folder in the Hugging Face format and from safetensors only; code that comes with a
model is never run.
"""

import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MULTIMODAL_LM_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMultimodalLM,
    AutoTokenizer,
)
from transformers.utils.logging import disable_progress_bar

from oversmoothing.data.tokens.limits import check_file
from oversmoothing.data.tokens.vocabulary import FAST, make_certain
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.folder import (
    CONFIG,
    ModelFolder,
    check_finite,
    check_floats,
    check_folder,
    further_layers,
)

OPTIONS: Any = {"local_files_only": True, "trust_remote_code": False}
BUFFERS = 1 << 28  # limit on the elements of tensors that are not in the files, such as masks
TIED = 2  # limit on a model's weights as a multiple of those in the files: embedding and head may be tied
# Keys of configs of transformers. Of a softcap c, the logits are c tanh(z / c), z being those of the head.
SOFTCAPS = ("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
TRANSFORMERS = logging.getLogger("transformers")
NUMBERED = re.compile(r"(?:^|\.)(\d+)\.")


@dataclass(frozen=True)
class LanguageModel:
    """A causal language model of transformers, in float32, with its tokenizer and longest context in tokens."""

    model: Any
    tokenizer: Any
    context: int


def load_language_model(folder: str | Path, device: torch.device | str = "cpu", key: str = "model") -> LanguageModel:
    """Return the causal language model with its tokenizer, in float32; `key` of the config names it in messages."""
    tokenizer = load_tokenizer(folder, key)
    model = load_causal_lm(folder, torch.float32, key, device)
    _keep_in_float32(model.get_output_embeddings())
    return LanguageModel(model, tokenizer, context_of(model))


def load_causal_lm(folder: str | Path, dtype: torch.dtype, name: str, device: torch.device | str = "cpu") -> Any:
    """Return the causal language model, in evaluation mode on a device, after a test run on two tokens.

    Its weights have `dtype`.

    `name` is the model's or the config's key, for a `UserError` if the folder does not pass `check_folder`, the model
    needs its own code, its weights do not match its config, or it does not run.
    """
    disable_progress_bar()
    with _as_causal_lm(folder, name):
        files, config, _ = _described(folder)
        loaded: Any = _class_of(config).from_pretrained(
            str(folder),
            config=config,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are named below
            **OPTIONS,
        )
        model, report = loaded
        _check_report(files, model, report)
        check_finite(files.path, model.named_parameters())
        rows = len(model.get_output_embeddings().weight)
        with torch.inference_mode():
            shape = model.eval()(input_ids=torch.arange(2)[None], use_cache=False).logits.shape
        if shape != (1, 2, rows):
            raise UserError(f"its logits of two tokens have the shape {tuple(shape)}, its head {rows} rows")
    torch.nn.Module.to(model, device)
    return model


def outline(folder: str | Path, name: str) -> Any:
    """Return the model without weights, on the meta device, after all checks of `load_causal_lm` that need none."""
    with _as_causal_lm(folder, name):
        return _described(folder)[2]


def load_tokenizer(folder: str | Path, name: str) -> Any:
    """Return the tokenizer of a model, without chance in its encodings (parameters as in `load_causal_lm`)."""
    with one_line_errors(f"{name}: {folder}: no complete causal language model"):
        check_folder(folder)
        if (Path(folder) / FAST).exists():
            check_file(Path(folder) / FAST)
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), **OPTIONS)
        if tokenizer.is_fast:
            make_certain(tokenizer.backend_tokenizer, Path(folder) / FAST)
        # Without a vocabulary, transformers tokenizes every text to nothing.
        ids = tokenizer("a b", add_special_tokens=False)["input_ids"]
        if not ids or not all(type(token) is int and token >= 0 for token in ids):
            raise UserError("its tokenizer finds no token in a text")
    return tokenizer


def context_of(model: Any) -> Any:
    """Return the longest context of a model in tokens.

    Without a limit, as with rotary positions, it is that of any windows.
    """
    known = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return sys.maxsize if known is None else known


def softcap_in(config: Any, path: str | Path, name: str) -> float | None:
    """Return the c of a model's logits c tanh(z / c), or None; a `UserError` if its config holds no such number.

    `config` is that in the file `path`, and `name` the model's, for messages.
    """
    given = {key: value for key in SOFTCAPS if (value := getattr(config.get_text_config(), key, None)) is not None}
    for key, value in given.items():
        if type(value) not in (int, float) or not 0 < value < float("inf"):
            raise UserError(f"{name}: {path}: {key} is {value!r}, not a cap of its logits; it cannot be used here")
    if len(given) > 1:
        raise UserError(f"{name}: {path}: it caps its logits twice, by {' and '.join(given)}; it cannot be used here")
    return float(*given.values()) if given else None


@contextmanager
def one_line_errors(what: str) -> Iterator[None]:
    """Convert any error that files can cause into a `UserError` of one line: `what`, and the reason in brackets.

    An invalid config can raise almost anything in transformers, and tokenizers raises what is no `Exception`. What
    transformers itself would print is dropped: its report of a model's tensors has their names as they are in the
    file, with line breaks and what a terminal obeys. All that matters in it is checked here.
    """
    try:
        with _silent():
            yield
    except (MemoryError, torch.OutOfMemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        reason = " ".join(str(error).split())
        if not isinstance(error, UserError):
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            reason = reason if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {reason}"
        raise UserError(f"{what} ({reason})") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Let transformers log nothing, and no library warn."""
    level = TRANSFORMERS.level
    TRANSFORMERS.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        TRANSFORMERS.setLevel(level)


def _keep_in_float32(head: Any) -> None:
    """Make a head multiply in float32 even under autocast, because logits near -100 lose half a nat in bf16."""
    plain = head.forward

    def forward(hidden: Tensor) -> Tensor:
        with torch.autocast(hidden.device.type, enabled=False):
            return plain(hidden.float())

    head.forward = forward


def _as_causal_lm(folder: str | Path, name: str) -> AbstractContextManager[None]:
    return one_line_errors(f"{name}: {folder}: no complete causal language model that needs no code")


def _described(folder: str | Path) -> tuple[ModelFolder, Any, Any]:
    """Check what a folder's files say of themselves; return its content, config, and model without weights."""
    files = check_folder(folder)
    config = AutoConfig.from_pretrained(str(files.path), **OPTIONS)
    model = _without_weights(files, config)
    check_floats(files, [name for name, _ in model.named_parameters()])
    if model.get_output_embeddings() is None:
        raise UserError("it has no head that maps a hidden state to logits")
    context = context_of(model)
    if type(context) is not int or context < 1:
        raise UserError(f"{files.path / CONFIG}: max_position_embeddings is {context!r}, not a number of tokens")
    return files, config, model


def _class_of(config: Any) -> Any:
    """Return the auto class of a config: of causal language models, or of models of text and images.

    The latter then read text alone.
    """
    kind = type(config)
    wrapped = kind not in MODEL_FOR_CAUSAL_LM_MAPPING and kind in MODEL_FOR_MULTIMODAL_LM_MAPPING
    return AutoModelForMultimodalLM if wrapped else AutoModelForCausalLM


def _without_weights(files: ModelFolder, config: Any) -> Any:
    """Build the model without its weights, and raise if it is larger than its files."""
    with torch.device("meta"):
        model = _class_of(config).from_config(config, trust_remote_code=False)
    wanted, beside = (sum(tensor.numel() for tensor in part) for part in (model.parameters(), model.buffers()))
    if wanted > TIED * files.weights or beside > TIED * files.weights + BUFFERS:
        raise UserError(
            f"{files.path / CONFIG}: it describes a model of {max(wanted, beside)} numbers, but the files hold "
            f"{files.weights}; config and weights are of different models"
        )
    return model


def _check_report(files: ModelFolder, model: Any, report: Any) -> None:
    """Raise if transformers initialised weights at random or ignored layers in the files, but for declared ones."""
    if absent := sorted(report["missing_keys"]):
        raise UserError(f"its weights lack {absent[0]}" + (f" and {len(absent) - 1} more" * (len(absent) > 1)))
    if other := sorted(map(tuple, report["mismatched_keys"])):
        name, in_file, in_model = other[0]
        raise UserError(f"tensor {name} has the shape {tuple(in_file)}, but {CONFIG} makes it {tuple(in_model)}")
    layers, further = getattr(model.config.get_text_config(), "num_hidden_layers", None), further_layers(files.config)
    own = [f".{name}" for name in model.state_dict()]
    for key in sorted(report["unexpected_keys"]):
        number = NUMBERED.search(key)
        if layers is None or not number or int(number[1]) < layers + further:
            continue
        if any(f".{key[: number.start(1)]}" in name for name in own):  # so it is no part that the class leaves out
            raise UserError(f"{files.path / CONFIG}: it makes {layers} layers, but the files have {key} beside them")
