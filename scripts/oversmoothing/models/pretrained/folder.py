"""Check of the folder of an external model before anything else reads it.

transformers trusts such a folder: an index may name a pickle file or a path outside the folder, and a config may ask
for a million layers. Here only JSON and safetensors files inside the folder are read, or in that of its repository in
the hub's cache, and the config is compared with the headers of the weights.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from oversmoothing.hub.cache import INDEX, again, check_links
from oversmoothing.hub.formats import instead_of_safetensors
from oversmoothing.jobs import UserError, file_fault
from oversmoothing.store.tensors import FLOATS

CONFIG, SINGLE = "config.json", "model.safetensors"
# Other JSON objects that transformers reads if they exist.
JSON = ["generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
JSON += ["added_tokens.json", "vocab.json"]
# Keys that make transformers read files other than those checked here, or code from the hub.
ELSEWHERE = {CONFIG: "transformers_weights", "tokenizer_config.json": "fast_tokenizer_files"}
KERNELS = re.compile(r"_?(attn|experts)_implementation(_internal)?")
BUILT_IN = (None, "eager", "sdpa", "flex_attention", "grouped_mm", "batched_mm")  # others may be fetched from the hub
ADAPTER = "adapter_config.json"
WRAPPERS = {"._orig_mod.": "torch.compile", ".module.": "DistributedDataParallel"}
WRAPPERS |= {"._fsdp_wrapped_module.": "FullyShardedDataParallel"}

PLAIN = re.compile(r"[^/\\.][^/\\]*\.safetensors")
LAYERS = re.compile(r"(n|num)(_hidden|_decoder)?_layers?")
FURTHER = re.compile(r"num_(nextn_predict|mtp)_(layers|modules)|mtp_num_(hidden_)?layers")  # behind the last one
EXPERTS = re.compile(r"(n|num)_(\w+_)?experts")
SIZES = {"vocab_size", "hidden_size", "n_embd", "d_model", "intermediate_size", "n_inner", "ffn_dim", "head_dim"}
SIZES |= {"num_attention_heads", "num_key_value_heads", "num_heads", "n_head", "n_heads", "max_position_embeddings"}
SIZES |= {"n_positions", "window_size", "num_pred_heads"}
FEW = 1024  # a limit on experts that the files need not have: a config may name some that its model does not use
QUANTISED = ("quantization_config", "compression_config", "quantization")


@dataclass(frozen=True)
class ModelFolder:
    """Content of a checked folder: ``config.json``, and the file, shape and type of each tensor."""

    path: Path
    config: dict[str, Any]
    files: dict[str, Path]
    shapes: dict[str, tuple[int, ...]]
    dtypes: dict[str, str]  # such as "F32"

    @property
    def weights(self) -> int:
        """Total number of elements of the tensors."""
        return sum(map(prod, self.shapes.values()))


def check_folder(folder: str | Path) -> ModelFolder:
    """Check that a folder refers to nothing outside it and that its sizes are plausible; return its content.

    Pickled weights and code are ignored. A `UserError` names the file and the key.
    """
    folder = Path(folder)
    check_links(folder)
    if (folder / ADAPTER).exists():
        raise UserError(f"{folder / ADAPTER}: an adapter of another model; merge the two and save the whole model")
    read = {name: read_json(folder / name) for name in JSON if (folder / name).exists()}
    read[CONFIG] = read_json(folder / CONFIG)
    for name, key in ELSEWHERE.items():
        if read.get(name, {}).get(key) is not None:
            raise UserError(f"{folder / name}: {key} names other files, which are not read; delete the key")
    _check_not_quantised(folder / CONFIG, read[CONFIG])
    files = _tensor_files(folder)
    _check_names(folder, files)
    headers = _headers(files)
    shapes = {name: shape for name, (shape, _) in headers.items()}
    _check_sizes(folder / CONFIG, read[CONFIG], shapes)
    return ModelFolder(folder, read[CONFIG], files, shapes, {name: dtype for name, (_, dtype) in headers.items()})


def check_floats(content: ModelFolder, parameters: Collection[str]) -> None:
    """Raise a `UserError` if a tensor is one of a model's parameters, by name, and holds no floating-point numbers.

    Others, such as masks and positions, may hold what they like. A name may lack or add what stands before it.
    """
    for name, dtype in content.dtypes.items():
        if dtype not in FLOATS and any(name.endswith(known) or known.endswith(name) for known in parameters):
            raise UserError(
                f"{content.files[name]}: its tensor {name} holds {dtype}, no floating-point numbers; save the model in "
                "float32 or bf16, dequantised"
            )


def check_finite(folder: Path, tensors: Iterable[tuple[str, Tensor]]) -> None:
    """Raise a `UserError` if a tensor, by name, holds NaN or infinity; minus infinity in a bias rules out its row."""
    for name, tensor in tensors:
        odd = ~tensor.isfinite()
        if name.endswith("bias"):
            odd &= tensor != -float("inf")
        if odd.any():
            raise UserError(
                f"{folder}: its tensor {name} holds NaN or infinity; the weights are damaged, fetch them again"
            )


def with_whole_sizes(config: Any, size: bool = False) -> Any:
    """Return a config, or a part of it, in which a size such as 48.0 is the whole number."""
    if isinstance(config, dict):
        return {key: with_whole_sizes(value, _is_size(key)) for key, value in config.items()}
    if isinstance(config, list):
        return [with_whole_sizes(part, size) for part in config]
    return int(config) if size and _is_whole(config) else config


def further_layers(config: Mapping[str, Any]) -> int:
    """Number of layers behind the last that a config declares, which predict further tokens and are not used here."""
    own = [value for key, value in config.items() if FURTHER.fullmatch(key) and _is_whole(value)]
    return int(max([0, *own, *(further_layers(part) for part in config.values() if isinstance(part, dict))]))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; {again(path.parent)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path}: {file_fault(error) or f'not a JSON object ({_line(error)}); fetch it again'}"
        ) from error
    if not isinstance(value, dict):
        raise UserError(f"{path}: not a JSON object but {type(value).__name__}; fetch it again")
    return value


def read_tensors(files: Mapping[str, Path], rows: Mapping[str, int] | None = None) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, tensor) of `ModelFolder.files`, one at a time in memory; of those in `rows` only the first rows."""
    for path in sorted(set(files.values())):
        with _opened(path) as file:
            for name in sorted(name for name, other in files.items() if other == path):
                try:
                    if rows and name in rows:
                        yield name, file.get_slice(name)[: rows[name]]
                    else:
                        yield name, file.get_tensor(name)
                except SafetensorError as error:
                    raise UserError(f"{path}: {name} cannot be read ({error}); fetch the file again") from error


def _tensor_files(folder: Path) -> dict[str, Path]:
    """File of each tensor; a single weights file takes precedence over the index, as in transformers."""
    if (folder / SINGLE).exists() or not (folder / INDEX).exists():
        if not (folder / SINGLE).exists():
            instead = instead_of_safetensors(path.name for path in folder.iterdir()) or f"; {again(folder)}"
            raise UserError(f"{folder}: it has no {SINGLE}{instead}")
        with _opened(folder / SINGLE) as file:
            return dict.fromkeys(file.keys(), folder / SINGLE)
    path = folder / INDEX
    index = read_json(path)
    named = index.get("weight_map")
    if not isinstance(named, dict) or not named:
        raise UserError(f"{path}: it has no weight_map from tensors to files; fetch it again")
    if not isinstance(index.get("metadata"), dict):
        raise UserError(f"{path}: its metadata is not an object; fetch it again")
    for tensor, file in named.items():
        if not isinstance(file, str) or not PLAIN.fullmatch(file):
            only = "only .safetensors files of the folder itself are read"
            raise UserError(f"{path}: weight_map places {tensor} in {file!r}; {only}")
    return {tensor: folder / file for tensor, file in named.items()}


def _check_names(folder: Path, names: Collection[str]) -> None:
    """Raise if the names of the tensors are those of a model inside a wrapper."""
    for part, by in WRAPPERS.items():
        if any(part in f".{name}" for name in names):
            raise UserError(
                f"{folder}: {part.strip('.')!r} stands in the names of its tensors, as {by} puts it there; save the "
                "model inside with `save_pretrained`, and name that folder"
            )


def _headers(files: Mapping[str, Path]) -> dict[str, tuple[tuple[int, ...], str]]:
    """Shape and type of each tensor, from the header of its file."""
    headers: dict[str, tuple[tuple[int, ...], str]] = {}
    for path in sorted(set(files.values())):
        with _opened(path) as file:
            there = set(file.keys())
            for name in (name for name, other in files.items() if other == path):
                if name not in there:
                    raise UserError(f"{path}: it has no tensor {name}, which the index places there")
                header = file.get_slice(name)
                headers[name] = tuple(header.get_shape()), str(header.get_dtype())
    return headers


def _check_sizes(path: Path, config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check the counts in a config or a part of it, so that each layer that transformers builds has weights."""
    largest = max((size for shape in shapes.values() for size in shape), default=0)
    for key, value in config.items():
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, dict):
                _check_sizes(path, part, shapes)
        if KERNELS.fullmatch(key) and value not in BUILT_IN:
            raise UserError(f"{path}: {key} is {value!r}: code of the hub, which is never run; delete the key")
        lowest, most, what = 1, None, ""
        if LAYERS.fullmatch(key) or FURTHER.fullmatch(key):
            lowest, most = int(LAYERS.fullmatch(key) is not None), len(shapes)
            what = f"; the files hold {len(shapes)} tensors"
        elif EXPERTS.fullmatch(key):
            lowest, most, what = 0, max(largest, len(shapes), FEW), "; no tensor is that large"
        elif key not in SIZES:
            continue
        for number in parts:  # in a list one for each layer
            if number is None or (_is_whole(number) and lowest <= number and (most is None or number <= most)):
                continue
            limits = f"from {lowest} on" if most is None else f"from {lowest} to {most}"
            raise UserError(f"{path}: {key} is {_shown(value)}, not a whole number {limits}{what}")


def _check_not_quantised(path: Path, config: Mapping[str, Any]) -> None:
    """Raise if a config or a part of it says that the weights are quantised."""
    for key, value in config.items():
        if key in QUANTISED and value and isinstance(value, dict):
            how = value.get("quant_method")
            how = how if isinstance(how, str) and how.isalnum() else key
            raise UserError(f"{path}: quantised ({how}); save a dequantised copy, without {key}, and name that")
        if isinstance(value, dict):
            _check_not_quantised(path, value)


def _is_size(key: str) -> bool:
    return key in SIZES or any(pattern.fullmatch(key) for pattern in (LAYERS, FURTHER, EXPERTS))


def _is_whole(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:36]} ..."


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, "pt")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; {again(path.parent)}") from None
    except (SafetensorError, OSError) as error:
        fault = file_fault(error) or f"not a complete safetensors file ({error}); fetch it again"
        raise UserError(f"{path}: {fault}") from error


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
