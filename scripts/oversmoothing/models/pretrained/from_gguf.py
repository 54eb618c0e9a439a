"""A causal language model in a GGUF file, as a folder in the Hugging Face format with float32 weights.

transformers reads the config and dequantises the weights. The tokenizer is built here from what the file says of it:
transformers leaves out how some vocabularies divide a text before the merges (`tokenizer.ggml.pre`).
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader, TokenType
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForCausalLM, GgufConfig, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar

from oversmoothing.data.tokens.vocabulary import FAST
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import OPTIONS, load_causal_lm, one_line_errors
from oversmoothing.models.pretrained.folder import CONFIG, SINGLE, check_finite

logger = logging.getLogger(__name__)

ARCHITECTURES = ("llama", "qwen2", "qwen3")  # causal language models whose conversion is tested
BYTE_LEVEL = "gpt2"  # the value of `tokenizer.ggml.model` for byte-level byte-pair encoding
DIGITS = {"llama-bpe": r"\p{N}{1,3}", "qwen2": r"\p{N}"}  # how many of them are one word
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|{digits}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SAVE = "load it with transformers, save it and its tokenizer to a folder with `save_pretrained`, and name that folder"


def write_folder(path: str | Path, folder: str | Path) -> None:
    """Write the model in a GGUF file, with its tokenizer, into a folder in the Hugging Face format.

    A `UserError` names what is wrong: a damaged file, another architecture or tokenizer, tensors that the model made of
    it does not have, weights that are not finite.
    """
    path, folder = Path(path), Path(folder)
    disable_progress_bar()
    with one_line_errors(f"{path}: no causal language model in GGUF that can be converted"):
        numbers, said = _read(path)
        tokenizer = byte_pair_tokenizer(said)
        model = _load(path, numbers)
        check_finite(path, model.named_parameters())
        model.config.save_pretrained(folder)
        tensors = {name: one.detach().contiguous() for name, one in model.named_parameters()}
        save_file(tensors, folder / SINGLE, {"format": "pt"})
        del model
        (folder / SINGLE).chmod((folder / CONFIG).stat().st_mode)  # safetensors gives it to its owner alone
        _describe(tokenizer, said).save_pretrained(folder)
        tokenizer.save(str(folder / FAST))  # as it is: transformers adds to it
    load_causal_lm(folder, torch.float32, str(path))  # it is whole


def byte_pair_tokenizer(said: Mapping[str, Any]) -> Tokenizer:
    """Return the byte-level byte-pair tokenizer that the keys ``tokenizer.ggml.*`` of a GGUF file describe.

    A `UserError` is raised for a tokenizer of another kind, or one that divides texts in a way that is not known here.
    """
    kind, division = said.get("tokenizer.ggml.model"), said.get("tokenizer.ggml.pre")
    if kind != BYTE_LEVEL:
        raise UserError(f"tokenizer.ggml.model is {kind!r}, not {BYTE_LEVEL!r}, byte-level byte-pair encoding; {SAVE}")
    if division not in PRE_TOKENIZERS:
        known = ", ".join(PRE_TOKENIZERS)
        raise UserError(f"tokenizer.ggml.pre is {division!r}, of which only {known} are known; {SAVE}")
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
    if said.get("tokenizer.ggml.add_bos_token", division in BEGUN):
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
BEGUN = ("llama-bpe",)  # an id stands before texts unless the file says otherwise


def _describe(tokenizer: Tokenizer, said: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Return what the Auto class of transformers reads, which without it takes a Llama's tokenizer for another."""
    names = said["tokenizer.ggml.tokens"]
    ids = {key: said.get(f"tokenizer.ggml.{key}_token_id") for key in ("bos", "eos")}
    special = {f"{key}_token": names[id] for key, id in ids.items() if id is not None}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def _read(path: Path) -> tuple[int, dict[str, Any]]:
    """Return how many numbers the tensors of a GGUF file hold, and its keys; refuse what is not converted here."""
    reader = GGUFReader(path)
    said = {key: field.contents() for key, field in reader.fields.items()}
    architecture = said.get("general.architecture")
    if architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise UserError(f"general.architecture is {architecture!r}, and only {known} are converted; {SAVE}")
    scaling = said.get(f"{architecture}.rope.scaling.type", "none")
    if scaling != "none":
        raise UserError(f"{architecture}.rope.scaling.type is {scaling!r}, which transformers does not read; {SAVE}")
    return sum(int(tensor.n_elements) for tensor in reader.tensors), said


def _load(path: Path, numbers: int) -> Any:
    """Return the model of a GGUF file, with dequantised weights that are neither missing nor left over."""
    with redirect_stderr(StringIO()):  # without the bar that transformers draws, terminal or not
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            str(path.parent),
            gguf_file=path.name,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
            output_loading_info=True,
            **OPTIONS,
        )
    model, report = loaded
    if absent := sorted(report["missing_keys"]):
        raise UserError(f"it lacks the tensor {absent[0]}" + (f" and {len(absent) - 1} more" * (len(absent) > 1)))
    own = sum(weight.numel() for weight in model.parameters())
    if own != numbers:
        raise UserError(f"its tensors hold {numbers:,} numbers, but the model that transformers makes of it {own:,}")
    # transformers would refuse to read or to save what it still takes for quantised.
    model.config.__dict__.pop("quantization_config", None)
    return model
