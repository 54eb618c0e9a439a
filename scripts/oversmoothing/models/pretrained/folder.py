"""Check of the folder of an external model before anything else reads it.

transformers trusts such a folder: an index may name a pickle file or a path outside the folder, and a config may ask
for a million layers. Here only JSON and safetensors files inside the folder are read, or in that of its repository in
the hub's cache, and the config is compared with the headers of the weights.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from oversmoothing.hub.cache import INDEX, again, check_links
from oversmoothing.hub.other_formats import instead_of_safetensors
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

PLAIN = re.compile(r"[^/\\.][^/\\]*\.safetensors")
LAYERS = re.compile(r"(n|num)(_hidden|_decoder)?_layers?")
FURTHER = re.compile(r"num_(nextn_predict|mtp)_(layers|modules)|mtp_num_(hidden_)?layers")  # behind the last one
EXPERTS = re.compile(r"(n|num)_(\w+_)?experts")
FEW = 1024  # experts that a config may name though its model does not use them
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
        raise UserError(f"{folder / ADAPTER}: {_what_of_the_adapter(folder)}")
    read = {name: read_json(folder / name) for name in JSON if (folder / name).exists()}
    read[CONFIG] = read_json(folder / CONFIG)
    for name, key in ELSEWHERE.items():
        if read.get(name, {}).get(key) is not None:
            raise UserError(f"{folder / name}: {key} names other files, which are not read; delete the key")
    _check_code_and_type(folder / CONFIG, read[CONFIG])
    files = _tensor_files(folder)
    headers = _headers(files)
    shapes = {name: shape for name, (shape, _) in headers.items()}
    _check_sizes(folder / CONFIG, read[CONFIG], shapes)
    return ModelFolder(folder, read[CONFIG], files, shapes, {name: dtype for name, (_, dtype) in headers.items()})


def _what_of_the_adapter(folder: Path) -> str:
    """Return what a file that describes an adapter says of a folder, and what to do.

    With the package `peft`, transformers would look for the adapter and add it to the weights beside it.
    """
    if not any((folder / name).exists() for name in (SINGLE, INDEX)):
        return "an adapter of another model; merge the two and save the whole model"
    copy = f"move {ADAPTER} to another folder, or name a copy of the folder without it"
    if any(folder.glob("adapter_model.*")):
        return (
            "an adapter beside the weights of a whole model, which may hold it already or not; save what you mean, "
            f"merged, to a folder of its own, or, if the whole model is meant, {copy}"
        )
    return f"left over from an adapter, as beside a model that was merged with it; {copy}"


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


def further_layers(config: Mapping[str, Any]) -> int:
    """Return the number of layers behind the last that a config declares.

    They predict further tokens and are not used here.
    """
    return max([0, *(value for key, value in _entries(config) if FURTHER.fullmatch(key) and isinstance(value, int))])


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; {again(path.parent)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: {file_fault(error) or f'not a JSON object ({error}); fetch it again'}") from error
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
    """Return the file of each tensor; a single weights file takes precedence over the index, as in transformers."""
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
    for tensor, file in named.items():
        if not isinstance(file, str) or not PLAIN.fullmatch(file):
            only = "only .safetensors files of the folder itself are read"
            raise UserError(f"{path}: weight_map places {tensor} in {file!r}; {only}")
    return {tensor: folder / file for tensor, file in named.items()}


def _headers(files: Mapping[str, Path]) -> dict[str, tuple[tuple[int, ...], str]]:
    """Return the shape and type of each tensor, from the header of its file."""
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


def _entries(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a config and of its parts."""
    for key, value in config.items():
        yield key, value
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from _entries(part)


def _check_code_and_type(path: Path, config: Mapping[str, Any]) -> None:
    """Raise if a config asks for code of the hub, or says that the weights are quantised."""
    for key, value in _entries(config):
        if KERNELS.fullmatch(key) and value not in BUILT_IN:
            raise UserError(f"{path}: {key} is {value!r}: code of the hub, which is never run; delete the key")
        if key in QUANTISED and value and isinstance(value, dict):
            how = value.get("quant_method")
            how = how if isinstance(how, str) and how.isalnum() else key
            raise UserError(f"{path}: quantised ({how}); save a dequantised copy, without {key}, and name that")


def _check_sizes(path: Path, config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise if a config names no layer, or more layers or experts than the files have weights for."""
    experts = max([FEW, len(shapes), *(size for shape in shapes.values() for size in shape)])
    for key, value in _entries(config):
        most = len(shapes) if LAYERS.fullmatch(key) else experts if EXPERTS.fullmatch(key) else inf
        for number in value if isinstance(value, list) else [value]:  # in a list one for each layer
            if isinstance(number, int | float) and (number > most or (number < 1 and LAYERS.fullmatch(key))):
                raise UserError(f"{path}: {key} is {number}, but the files hold {len(shapes)} tensors")


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, "pt")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; {again(path.parent)}") from None
    except (SafetensorError, OSError) as error:
        fault = file_fault(error) or f"not a complete safetensors file ({error}); fetch it again"
        raise UserError(f"{path}: {fault}") from error
