"""Which models in GGUF files are converted: what a header must say of them, within which bounds, and their tensors.

The checks need no PyTorch and no data, so another model is refused in a second. That the tensors are those of the
model is checked when it is made (`models.pretrained.from_gguf`).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gguf.constants import GGMLQuantizationType

from oversmoothing.hub.gguf_architectures import ARCHITECTURES, Number
from oversmoothing.hub.gguf_header import DAMAGED, Header, Tensor, read_header, shown
from oversmoothing.hub.gguf_parts import parts_of
from oversmoothing.hub.gguf_tokens import FULL, OF_TOKENS, check_tokens
from oversmoothing.jobs import UserError
from oversmoothing.printable import printable

Shape = tuple[int, ...]

BLOCK = re.compile(r"blk\.(\d{1,9})\.")
EMBEDDING, HEAD_MATRIX = "token_embd.weight", "output.weight"  # without the second the head is the embedding
OUTSIDE = ("token_embd", "token_embd_norm", "position_embd", "output_norm", "output", "rope_freqs")  # of layers
FREQUENCIES = "rope_freqs.weight"  # by what the frequencies of rotary positions are divided, as in Llama 3.1
UNPACKED = set(GGMLQuantizationType) - {
    getattr(GGMLQuantizationType, name) for name in ("I8", "I16", "I32", "I64", "F64", "Q8_1", "Q8_K", "Q1_0")
}
HEAD = ("attention.key_length", "attention.value_length")  # all of one head, if they are said
ROTARY, SCALE = "rope.dimension_count", ("rope.scaling.factor", "rope.scale_linear")
LARGEST_HEAD, LARGEST_SCALE = 1 << 16, Number("factor", 1.0, 1e4)
# Keys that say what is not converted, unless they have one of these values.
PLAIN = {
    "rope.scaling.type": ("none", "linear"),
    "attention.causal": (True,),
    "ssm.dt_b_c_rms": (False,),
}
# Others that change nothing, if `PLAIN` holds.
FURTHER = {"vocab_size", "expert_count", "expert_used_count", "tensor_data_layout"}
FURTHER |= {"rope.scaling.original_context_length", "rope.scaling.finetuned"}


class Described(NamedTuple):
    """A model that can be converted: the header of its file, and its config.

    `notes` say what was taken where the header says nothing, and what was left out.
    """

    header: Header
    architecture: str
    config: dict[str, Any]
    notes: tuple[str, ...]


def check_gguf(path: str | Path) -> Described:
    """Return what the header of a GGUF file says of a model, if it is one that is converted here.

    A `UserError` names the file and the key, number or tensor: a damaged file, a part of one, another architecture or
    tokenizer, a number out of its bounds, tensors of other layers or sizes.
    """
    header = _whole(Path(path))
    try:
        name = header.said.get("general.architecture")
        if not isinstance(name, str) or name not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise UserError(f"general.architecture is {shown(name)}, and only {known} are converted; {FULL}")
        check_tokens(header.said)
        prefix = f"{name}."
        own = {key.removeprefix(prefix): value for key, value in header.said.items() if key.startswith(prefix)}
        config = _config(name, own, header)
        _check_tensors(name, header, config)
    except UserError as fault:
        raise UserError(f"{path}: {printable(str(fault))}") from None
    return Described(header, name, config, tuple(_notes(name, header.said)))


def _whole(path: Path) -> Header:
    """Return the header of a model: the keys of its first file, and the tensors of all."""
    header = read_header(path)
    count = header.said.get("split.count", 0)
    if count in (0, 1):
        return header
    parts = _beside(path, header.said.get("split.no", 0), count)
    headers = [read_header(part) for part in parts]
    tensors: dict[str, Tensor] = {}
    for number, part in enumerate(headers):
        if (part.said.get("split.no"), part.said.get("split.count")) != (number, count):
            raise UserError(f"{parts[number]}: it says that it is another part; {DAMAGED}")
        if twice := tensors.keys() & part.tensors.keys():
            raise UserError(f"{parts[number]}: another part has the tensor {min(twice)!r} too; {DAMAGED}")
        tensors |= part.tensors
    if (total := headers[0].said.get("split.tensors.count", len(tensors))) != len(tensors):
        raise UserError(f"{path}: split.tensors.count is {shown(total)}, and there are {len(tensors)}; {DAMAGED}")
    return Header(headers[0].said, tensors)


def _beside(path: Path, number: object, count: object) -> list[Path]:
    """Return all parts of a model, of which a header says the number, from 0, and the count; raise if one is absent."""
    parts = parts_of(path)
    where = f"{path}: part {number + 1 if isinstance(number, int) else shown(number)} of {shown(count)} of a model"
    if len(parts) != count or not isinstance(number, int) or not 0 <= number < len(parts) or parts[number] != path:
        raise UserError(
            f"{where}, and not named so; name its parts as llama.cpp does, such as NAME-00001-of-00003.gguf"
        )
    if absent := next((part for part in parts if not part.is_file()), None):
        raise UserError(f"{where}, and {absent.name} is not beside it; fetch all parts into one folder")
    return parts


def _config(name: str, own: Mapping[str, Any], header: Header) -> dict[str, Any]:
    """Return the config of a model, by its names in transformers; raise for what is out of bounds or not converted."""
    architecture = ARCHITECTURES[name]
    for key, harmless in PLAIN.items():
        if key in own and own[key] not in harmless:
            raise UserError(f"{name}.{key} is {shown(own[key])}, which is not converted; {FULL}")
    if "expert_count" not in architecture.numbers and own.get("expert_count", 0) != 0:
        raise UserError(f"{name}.expert_count is {shown(own['expert_count'])}, which is not converted; {FULL}")
    tokens = len(header.said["tokenizer.ggml.tokens"])
    if (rows := own.get("vocab_size", tokens)) != tokens:
        raise UserError(f"{name}.vocab_size is {shown(rows)}, and there are {tokens} tokens; {DAMAGED}")
    config = {"model_type": architecture.model_type, "vocab_size": tokens, **_numbers(name, own)}
    config["tie_word_embeddings"] = HEAD_MATRIX not in header.tensors
    config |= {f"{each}_token_id": header.said.get(f"tokenizer.ggml.{each}_token_id") for each in ("bos", "eos")}
    config |= _heads(name, own, config) if "num_attention_heads" in config else {}
    return config | architecture.further(own, header.tensors, config)


def _numbers(name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of the config by their names in transformers; raise for one out of bounds."""
    architecture, keys = ARCHITECTURES[name], "attention.head_count_kv"
    own = {keys: own.get("attention.head_count"), **own}
    if architecture.by_layer and isinstance(counts := own[keys], tuple):
        if len(set(counts) - {0}) != 1:
            raise UserError(f"{name}.{keys} is {shown(counts)}, not one number of some layers; {DAMAGED}")
        own |= {keys: max(counts)}
    numbers = architecture.numbers.items()
    return {number.name: _within(own.get(key, number.otherwise), number, f"{name}.{key}") for key, number in numbers}


def _heads(name: str, own: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the size of heads and how they are turned by positions; raise for sizes that do not go together."""
    architecture = ARCHITECTURES[name]
    width, heads, shared = (config[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads"))
    if heads % shared:
        raise UserError(f"{name}.attention.head_count_kv is {shared}, no divisor of the head_count, {heads}; {DAMAGED}")
    size = own.get(HEAD[0], width // heads) if architecture.any_head else width // heads
    turned = own.get(ROTARY, size)
    for key, value in [*((key, own.get(key, size)) for key in HEAD), (ROTARY, size if architecture.part else turned)]:
        if value != size or type(size) is not int or size % 2 or not 0 < size <= LARGEST_HEAD:
            raise UserError(f"{name}.{key} is {shown(value)}, where heads have {shown(size)} numbers; {FULL}")
    if type(turned) is not int or turned % 2 or not 0 < turned <= size:
        raise UserError(f"{name}.{ROTARY} is {shown(turned)}, where heads have {size} numbers; {DAMAGED}")
    found = {"head_dim": size} if architecture.any_head else {}
    factor = next((own[key] for key in SCALE if own.get(key) not in (None, 0.0, 1.0)), None)
    if factor is not None and not architecture.scaled:
        key = next(key for key in SCALE if own.get(key) == factor)
        raise UserError(f"{name}.{key} is {shown(factor)}, which is not converted; {FULL}")
    if architecture.rotary:
        rope: dict[str, Any] = {"rope_type": "default", "rope_theta": config["rope_theta"]}
        if architecture.part:
            rope["partial_rotary_factor"] = turned / size
        if factor is not None:
            rope |= {"rope_type": "linear", "factor": _within(factor, LARGEST_SCALE, f"{name}.{SCALE[0]}")}
        found["rope_parameters"] = rope
    return found


def _notes(name: str, said: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was taken where a header says nothing, and which keys were left out though they may say something.

    First come the terms of use, if the header names some.
    """
    architecture = ARCHITECTURES[name]
    if "general.license" in said:
        yield f"its terms of use are {printable(shown(said['general.license']))}, as it says"
    for key, number in architecture.numbers.items():
        if f"{name}.{key}" not in said and number.otherwise:
            yield f"{name}.{key} is absent, and taken as {number.otherwise:g}, as llama.cpp does"
    keys = {
        *architecture.numbers,
        *architecture.keys,
        *HEAD,
        ROTARY,
        *SCALE,
        *PLAIN,
        *FURTHER,
        "attention.head_count_kv",
    }
    known = {f"{name}.{key}" for key in keys} | OF_TOKENS
    if unknown := sorted(key for key in said if key.startswith((f"{name}.", "tokenizer.ggml.")) and key not in known):
        yield f"left out, for nothing here reads it: {printable(', '.join(unknown))}"


def _within(value: Any, number: Number, key: str) -> Any:
    kind = type(number.least)
    if type(value) is not kind or not number.least <= value <= number.most:
        what = "whole number" if kind is int else "number"
        raise UserError(f"{key} is {shown(value)}, no {what} from {number.least:g} to {number.most:g}; {DAMAGED}")
    return value


def _check_tensors(name: str, header: Header, config: Mapping[str, Any]) -> None:
    """Raise unless the tensors are those of so many layers and tokens, stored in a way that is unpacked here."""
    layers, there = (
        config["num_hidden_layers"],
        {int(found[1]) for each in header.tensors if (found := BLOCK.match(each))},
    )
    if absent := sorted(set(range(layers)) - there):
        raise UserError(f"it lacks the tensors of layer {absent[0]}, and has {layers} layers; {DAMAGED}")
    if further := sorted(there - set(range(layers))):
        raise UserError(f"it has tensors of layer {further[0]}, unknown in a {name} of {layers} layers; {FULL}")
    outside = {each for each in header.tensors if not BLOCK.match(each)}
    if odd := sorted(each for each in outside if each.rpartition(".")[0] not in OUTSIDE):
        raise UserError(f"it has the tensor {odd[0]!r}{and_more(odd)}, unknown in a {name}; {FULL}")
    if EMBEDDING not in header.tensors:
        raise UserError(f"it lacks the tensor {EMBEDDING}; {DAMAGED}")
    rows = config["vocab_size"], config["hidden_size"]
    for each, tensor in header.tensors.items():
        if tensor.kind not in UNPACKED:
            raise UserError(f"its tensor {each} is stored as {tensor.kind.name}, which is not converted; {FULL}")
        if each in (EMBEDDING, HEAD_MATRIX):
            check_shape(each, tensor.shape, rows)


def check_shape(name: str, shape: Shape, right: Shape) -> None:
    """Raise unless a tensor has the shape that the keys give it."""
    if shape != right:
        raise UserError(f"its tensor {name} has the shape {shape}, and its keys make it {right}; {DAMAGED}")


def and_more(names: list[str]) -> str:
    """Return how many names there are behind the first."""
    return f" and {len(names) - 1} more" * (len(names) > 1)
