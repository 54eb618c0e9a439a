"""A causal language model in a GGUF file, as a folder in the Hugging Face format with float32 weights.

Only what has passed the checks of its header is read (`hub.gguf_model`). transformers' own reader bounds nothing, and
leaves out by what Llama 3.1 divides the frequencies of positions, and how a text is divided before the merges.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import MODEL_ARCH, GGMLQuantizationType, TokenType, dequantize, get_tensor_name_map
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from oversmoothing.data.tokens.vocabulary import FAST
from oversmoothing.hub.gguf_header import DAMAGED, Tensor
from oversmoothing.hub.gguf_model import FREQUENCIES, Described, check_gguf
from oversmoothing.hub.gguf_tokens import begins_with_an_id
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_causal_lm, one_line_errors
from oversmoothing.models.pretrained.folder import CONFIG, SINGLE, check_finite

logger = logging.getLogger(__name__)

ARCHITECTURES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2, "qwen3": MODEL_ARCH.QWEN3}
INTERLEAVED = ("llama",)  # the two halves of a head's queries and keys alternate
AS_IS = {GGMLQuantizationType.F32: np.float32, GGMLQuantizationType.F16: np.float16}  # the others are in blocks
DIGITS = {"llama-bpe": r"\p{N}{1,3}", "qwen2": r"\p{N}"}  # how many of them are one word
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|{digits}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def write_folder(path: str | Path, folder: str | Path) -> None:
    """Write the model in a GGUF file, with its tokenizer, into a folder in the Hugging Face format.

    A `UserError` names what is wrong: a damaged file, another architecture or tokenizer, tensors that the model made of
    it does not have, weights that are not finite.
    """
    path, folder = Path(path), Path(folder)
    described = check_gguf(path)
    said = described.header.said
    for note in described.notes:
        logger.warning("%s: %s", path, note)
    with one_line_errors(f"{path}: no causal language model in GGUF that can be converted"):
        tokenizer = byte_pair_tokenizer(said)
        config = _configured(path, described)
        tensors = dict(_weights(path, described, config))
        check_finite(path, tensors.items())
        config.save_pretrained(folder)
        save_file(tensors, folder / SINGLE, {"format": "pt"})
        del tensors
        (folder / SINGLE).chmod((folder / CONFIG).stat().st_mode)  # safetensors gives it to its owner alone
        _describe(tokenizer, said).save_pretrained(folder)
        tokenizer.save(str(folder / FAST))  # as it is: transformers adds to it
    load_causal_lm(folder, torch.float32, str(path))  # it is whole


def byte_pair_tokenizer(said: Mapping[str, Any]) -> Tokenizer:
    """Return the byte-level byte-pair tokenizer that the keys ``tokenizer.ggml.*`` of a GGUF file describe.

    They have passed `hub.gguf_model.check_gguf`. A `UserError` is raised if two tokens have one name.
    """
    division = said["tokenizer.ggml.pre"]
    names, types = said["tokenizer.ggml.tokens"], said["tokenizer.ggml.token_type"]
    entries = [(name, id, type) for id, (name, type) in enumerate(zip(names, types, strict=True))]
    vocabulary = {name: id for name, id, type in entries if type != TokenType.UNUSED}
    if len(vocabulary) < sum(type != TokenType.UNUSED for type in types):
        raise UserError("tokenizer.ggml.tokens: two tokens have one name")
    if lacking := sorted(set(pre_tokenizers.ByteLevel.alphabet()) - set(vocabulary)):
        logger.warning("its vocabulary lacks %d of the 256 bytes; texts that hold one cannot be read", len(lacking))
    merges = [tuple(merge.split(" ")) for merge in said["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=division in WHOLE_WORDS))
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[division]()
    if division in NORMALIZED:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [AddedToken(name, normalized=False, special=True) for name, _, type in entries if type == TokenType.CONTROL]
    )
    tokenizer.add_tokens(
        [AddedToken(name, normalized=False) for name, _, type in entries if type == TokenType.USER_DEFINED]
    )
    if begins_with_an_id(said):
        first = said["tokenizer.ggml.bos_token_id"]
        tokenizer.post_processor = TemplateProcessing(
            single=[names[first], "$A"], special_tokens=[(names[first], int(first))]
        )
    return tokenizer


def _of_gpt2(*before: Any) -> Any:
    return pre_tokenizers.Sequence([*before, pre_tokenizers.ByteLevel(add_prefix_space=False)])


def _of_words(digits: str) -> Any:
    split = pre_tokenizers.Split(Regex(WORDS.replace("{digits}", digits)), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


# How a text is divided into words before the merges, by `tokenizer.ggml.pre`, as in the tokenizer.json of the models.
PRE_TOKENIZERS: dict[Any, Callable[[], Any]] = {
    "gpt-2": _of_gpt2,
    "smollm": lambda: _of_gpt2(pre_tokenizers.Digits(individual_digits=True)),
    **{name: partial(_of_words, digits) for name, digits in DIGITS.items()},
}
WHOLE_WORDS = ("llama-bpe",)  # a word that is a token is not divided, whatever its merges
NORMALIZED = ("qwen2",)  # in NFC


def _describe(tokenizer: Tokenizer, said: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Return what the Auto class of transformers reads, which without it takes a Llama's tokenizer for another."""
    names = said["tokenizer.ggml.tokens"]
    ids = {key: said.get(f"tokenizer.ggml.{key}_token_id") for key in ("bos", "eos")}
    special = {f"{key}_token": names[id] for key, id in ids.items() if id is not None}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def _configured(path: Path, described: Described) -> Any:
    """Return the config of a model, with its rotary positions, whose frequencies the file may divide."""
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": described.config["rope_theta"]}
    if FREQUENCIES in described.header.tensors:
        divisors = _values(path, described.header.tensors[FREQUENCIES])
        if not np.isfinite(divisors).all() or divisors.min() <= 0:
            raise UserError(f"its tensor {FREQUENCIES} holds a number that divides no frequency; {DAMAGED}")
        if (divisors != 1).any():  # the name of any divisors in transformers, of short texts and of long ones
            rope |= {"rope_type": "longrope", "factor": 1.0, "attention_factor": 1.0}
            rope |= {"short_factor": divisors.tolist(), "long_factor": divisors.tolist()}
            rope |= {"original_max_position_embeddings": described.config["max_position_embeddings"]}
    given = {key: value for key, value in described.config.items() if key not in ("model_type", "rope_theta")}
    return AutoConfig.for_model(described.architecture, **given, rope_parameters=rope, dtype="float32")


def _weights(path: Path, described: Described, config: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the weights of a model in float32, by their names in transformers."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    names = get_tensor_name_map(ARCHITECTURES[described.architecture], config.num_hidden_layers)
    heads = {"attn_q.weight": config.num_attention_heads, "attn_k.weight": config.num_key_value_heads}
    for name, parameter in model.named_parameters():
        stem, _, last = name.rpartition(".")
        own = f"{names.get_name(stem)}.{last}"
        values = _values(path, described.header.tensors[own])
        if described.architecture in INTERLEAVED and (of := heads.get(own.split(".", 2)[-1])):
            values = values.reshape(of, -1, 2, values.shape[-1]).swapaxes(1, 2).reshape(values.shape)
        yield name, torch.from_numpy(np.array(values, np.float32)).reshape(parameter.shape)


def _values(path: Path, tensor: Tensor) -> Any:
    """Return the values of a tensor, as an array of float32 that is dequantised where it has to be."""
    stored = np.memmap(path, np.uint8, "r", tensor.start, tensor.size)
    rows = stored.view(AS_IS[tensor.kind]) if tensor.kind in AS_IS else stored.reshape(*tensor.shape[:-1], -1)
    return dequantize(rows, tensor.kind).reshape(tensor.shape)
