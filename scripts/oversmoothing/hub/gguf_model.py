"""Which models in GGUF files are converted: what a header must say of them, within which bounds, and their tensors.

The checks need no PyTorch and no data, so another model is refused in a second.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gguf.constants import GGMLQuantizationType

from oversmoothing.hub.gguf_header import DAMAGED, Header, read_header, shown
from oversmoothing.hub.gguf_tokens import FULL, OF_TOKENS, SPECIAL, check_tokens
from oversmoothing.jobs import UserError
from oversmoothing.printable import printable

Shape = tuple[int, ...]

PART = re.compile(r"(.+)-\d{5}-of-(\d{5})\.gguf")
FREQUENCIES = "rope_freqs.weight"  # by what the frequencies of rotary positions are divided, as in Llama 3.1
UNPACKED = set(GGMLQuantizationType) - {
    getattr(GGMLQuantizationType, name) for name in ("I8", "I16", "I32", "I64", "F64", "Q8_1", "Q8_K", "Q1_0")
}


class Number(NamedTuple):
    """A number of a header: its name in configs of transformers, bounds, and what it is if nothing is said."""

    name: str
    least: float
    most: float
    otherwise: float | None = None


# Keys behind the architecture's name. A whole number has whole bounds.
NUMBERS = {
    "context_length": Number("max_position_embeddings", 1, 1 << 30),
    "embedding_length": Number("hidden_size", 1, 1 << 20),
    "block_count": Number("num_hidden_layers", 1, 1 << 12),
    "feed_forward_length": Number("intermediate_size", 1, 1 << 22),
    "attention.head_count": Number("num_attention_heads", 1, 1 << 12),
    "attention.head_count_kv": Number("num_key_value_heads", 1, 1 << 12),
    "attention.layer_norm_rms_epsilon": Number("rms_norm_eps", 1e-12, 1e-2),
    "rope.freq_base": Number("rope_theta", 1.0, 1e12, 10_000.0),
}
HEAD = ("attention.key_length", "attention.value_length", "rope.dimension_count")  # all of one head, if they are said
LARGEST_HEAD = 1 << 16
# Keys that say what is not converted, unless they have one of these values.
PLAIN = {
    "rope.scaling.type": ("none", "linear"),
    "rope.scaling.factor": (0.0, 1.0),
    "rope.scale_linear": (0.0, 1.0),
    "expert_count": (0,),
    "attention.causal": (True,),
}
# Others that change nothing, if `PLAIN` holds.
FURTHER = {"vocab_size", "expert_used_count", "tensor_data_layout"}
FURTHER |= {"rope.scaling.original_context_length", "rope.scaling.finetuned"}


class Described(NamedTuple):
    """A model that can be converted: the header of its file, and its config but for rotary positions.

    `notes` say what was taken where the header says nothing, and what was left out.
    """

    header: Header
    architecture: str
    config: dict[str, Any]
    notes: tuple[str, ...]


def check_gguf(path: str | Path) -> Described:
    """Return what the header of a GGUF file says of a model, if it is one that is converted here.

    A `UserError` names the file and the key, number or tensor: a damaged file, a part of one, another architecture or
    tokenizer, a number out of its bounds, tensors that are not those of the architecture.
    """
    header = read_header(path)
    try:
        _check_whole(Path(path), header.said)
        architecture = header.said.get("general.architecture")
        if not isinstance(architecture, str) or architecture not in TENSORS:
            known = ", ".join(TENSORS)
            raise UserError(f"general.architecture is {shown(architecture)}, and only {known} are converted; {FULL}")
        check_tokens(header.said)
        prefix = f"{architecture}."
        own = {key.removeprefix(prefix): value for key, value in header.said.items() if key.startswith(prefix)}
        _check_plain(architecture, own)
        config = _numbers(architecture, own, len(header.said["tokenizer.ggml.tokens"]))
        _check_tensors(architecture, header, config)
    except UserError as fault:
        raise UserError(f"{path}: {printable(str(fault))}") from None
    config["model_type"], config["tie_word_embeddings"] = architecture, "output.weight" not in header.tensors
    config |= {f"{each}_token_id": header.said.get(f"tokenizer.ggml.{each}_token_id") for each in SPECIAL}
    return Described(header, architecture, config, tuple(_notes(architecture, header.said)))


def _check_whole(path: Path, said: Mapping[str, Any]) -> None:
    """Raise for a part of a model, of which only the first has more keys, with the command that joins the parts."""
    parts = said.get("split.count", 0)
    if parts in (0, 1):
        return
    named = PART.fullmatch(path.name)
    first, whole = "FIRST-PART.gguf", "WHOLE.gguf"
    if named:
        first, whole = (str(path.with_name(f"{named[1]}{end}.gguf")) for end in (f"-00001-of-{named[2]}", ""))
    number = said.get("split.no", 0)
    raise UserError(
        f"part {number + 1 if isinstance(number, int) else shown(number)} of {shown(parts)} of a model; join them with "
        f"`llama-gguf-split --merge {shlex.quote(first)} {shlex.quote(whole)}`, a tool of llama.cpp, "
        "and name the file that it writes"
    )


def _check_plain(architecture: str, own: Mapping[str, Any]) -> None:
    """Raise for what changes a model's numbers and is not converted."""
    for key, harmless in PLAIN.items():
        if key in own and own[key] not in harmless:
            raise UserError(f"{architecture}.{key} is {shown(own[key])}, which is not converted; {FULL}")


def _notes(architecture: str, said: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was taken where a header says nothing, and which keys were left out though they may say something."""
    for key, number in NUMBERS.items():
        if f"{architecture}.{key}" not in said and number.otherwise is not None:
            yield f"{architecture}.{key} is absent, and taken as {number.otherwise:g}, as llama.cpp does"
    known = {f"{architecture}.{key}" for key in {*NUMBERS, *HEAD, *PLAIN, *FURTHER}} | OF_TOKENS
    prefixes = f"{architecture}.", "tokenizer.ggml."
    if unknown := sorted(key for key in said if key.startswith(prefixes) and key not in known):
        yield f"left out, for nothing here reads it: {printable(', '.join(unknown))}"


def _numbers(architecture: str, own: Mapping[str, Any], tokens: int) -> dict[str, Any]:
    """Return the numbers of the config by their names in transformers; raise for one out of bounds."""
    own = {"attention.head_count_kv": own.get("attention.head_count"), **own}
    config: dict[str, Any] = {}
    for key, number in NUMBERS.items():
        config[number.name] = _within(own.get(key, number.otherwise), number, f"{architecture}.{key}")
    width, heads = config["hidden_size"], config["num_attention_heads"]
    if heads % config["num_key_value_heads"]:
        raise UserError(
            f"{architecture}.attention.head_count_kv is {config['num_key_value_heads']}, no divisor of the head_count, "
            f"{heads}; {DAMAGED}"
        )
    size = own.get(HEAD[0], width // heads)
    for key in HEAD:
        if (
            (own_size := own.get(key, size)) != size
            or type(size) is not int
            or size % 2
            or not 0 < size <= LARGEST_HEAD
        ):
            raise UserError(
                f"{architecture}.{key} is {shown(own_size)}, where heads have {shown(size)} numbers; {FULL}"
            )
    if (rows := own.get("vocab_size", tokens)) != tokens:
        raise UserError(f"{architecture}.vocab_size is {shown(rows)}, and there are {tokens} tokens; {DAMAGED}")
    config["head_dim"], config["vocab_size"] = size, tokens
    return config


def _within(value: Any, number: Number, key: str) -> Any:
    kind = type(number.least)
    if type(value) is not kind or not number.least <= value <= number.most:
        what = "whole number" if kind is int else "number"
        raise UserError(f"{key} is {shown(value)}, no {what} from {number.least:g} to {number.most:g}; {DAMAGED}")
    return value


def _check_tensors(architecture: str, header: Header, config: Mapping[str, Any]) -> None:
    """Raise unless the tensors are those of the architecture, in shapes that the numbers give them."""
    shapes = dict(_shapes(architecture, config))
    free = {"output.weight", FREQUENCIES}
    there = header.tensors
    if absent := sorted(set(shapes) - set(there) - free):
        raise UserError(f"it lacks the tensor {absent[0]}{_and_more(absent)}; {DAMAGED}")
    if further := sorted(set(there) - set(shapes)):
        what = f"it has the tensor {further[0]!r}{_and_more(further)}, unknown in a {architecture}"
        raise UserError(f"{what} of {config['num_hidden_layers']} layers; {FULL}")
    for name, tensor in there.items():
        if tensor.shape != shapes[name]:
            says = f"and its keys make it {shapes[name]}"
            raise UserError(f"its tensor {name} has the shape {tensor.shape}, {says}; {DAMAGED}")
        if tensor.kind not in UNPACKED:
            raise UserError(f"its tensor {name} is stored as {tensor.kind.name}, which is not converted; {FULL}")


def _and_more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" * (len(names) > 1)


def _shapes(architecture: str, config: Mapping[str, Any]) -> Iterator[tuple[str, Shape]]:
    """Yield the names of a model's tensors and their shapes, rows first."""
    sizes = {
        "width": config["hidden_size"],
        "inner": config["intermediate_size"],
        "head": config["head_dim"],
        "queries": config["num_attention_heads"] * config["head_dim"],
        "keys": config["num_key_value_heads"] * config["head_dim"],
        "tokens": config["vocab_size"],
        "pairs": config["head_dim"] // 2,
    }
    outside, block = TENSORS[architecture]
    for prefix in ("", *(f"blk.{layer}." for layer in range(config["num_hidden_layers"]))):
        for name, shape in (block if prefix else outside).items():
            yield f"{prefix}{name}", tuple(sizes[each] for each in shape)


Sizes = Mapping[str, tuple[str, ...]]
OUTSIDE: Sizes = {
    "token_embd.weight": ("tokens", "width"),
    "output_norm.weight": ("width",),
    "output.weight": ("tokens", "width"),  # without it the head is the embedding
}
BLOCK: Sizes = {
    "attn_norm.weight": ("width",),
    "attn_q.weight": ("queries", "width"),
    "attn_k.weight": ("keys", "width"),
    "attn_v.weight": ("keys", "width"),
    "attn_output.weight": ("width", "queries"),
    "ffn_norm.weight": ("width",),
    "ffn_gate.weight": ("inner", "width"),
    "ffn_up.weight": ("inner", "width"),
    "ffn_down.weight": ("width", "inner"),
}
# Tensors by architecture: those outside of layers, and those of each layer.
TENSORS: dict[str, tuple[Sizes, Sizes]] = {
    "llama": ({**OUTSIDE, FREQUENCIES: ("pairs",)}, BLOCK),
    "qwen2": (
        OUTSIDE,
        {**BLOCK, "attn_q.bias": ("queries",), "attn_k.bias": ("keys",), "attn_v.bias": ("keys",)},
    ),
    "qwen3": (OUTSIDE, {**BLOCK, "attn_q_norm.weight": ("head",), "attn_k_norm.weight": ("head",)}),
}
