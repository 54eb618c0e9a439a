"""A causal language model in a GGUF file, as a folder in the Hugging Face format with float32 weights.

Only what has passed the checks of its header is read (`hub.gguf_model`). transformers' own reader bounds nothing, and
leaves out by what Llama 3.1 divides the frequencies of positions.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGMLQuantizationType, dequantize
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast
from transformers.modeling_gguf_pytorch_utils import (
    TENSOR_PROCESSORS,
    GGUFTensor,
    TensorProcessor,
    get_gguf_hf_weights_map,
)

from oversmoothing.data.tokens.vocabulary import FAST
from oversmoothing.hub.gguf_header import DAMAGED, Tensor
from oversmoothing.hub.gguf_model import FREQUENCIES, Described, and_more, check_gguf, check_shape
from oversmoothing.hub.gguf_tokens import FULL
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_causal_lm, one_line_errors
from oversmoothing.models.pretrained.folder import CONFIG, SINGLE, check_finite
from oversmoothing.models.pretrained.gguf_tokenizer import gguf_tokenizer

logger = logging.getLogger(__name__)

NOT_IN_CONFIGS = ("model_type", "rope_theta", "near_rope_theta")  # but in `rope_parameters`
DIVIDED = ("llama",)  # whose frequencies of positions may be divided
AS_IS = {GGMLQuantizationType.F32: np.float32, GGMLQuantizationType.F16: np.float16}  # the others are in blocks


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
        tokenizer = gguf_tokenizer(said)
        config = _configured(described)
        tensors = _weights(described, config)
        check_finite(path, tensors.items())
        config.save_pretrained(folder)
        save_file(tensors, folder / SINGLE, {"format": "pt"})
        del tensors
        (folder / SINGLE).chmod((folder / CONFIG).stat().st_mode)  # safetensors gives it to its owner alone
        _describe(tokenizer, said).save_pretrained(folder)
        tokenizer.save(str(folder / FAST))  # as it is: transformers adds to it
    load_causal_lm(folder, torch.float32, str(path))  # it is whole


def _describe(tokenizer: Tokenizer, said: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Return what the Auto class of transformers reads, which without it takes a Llama's tokenizer for another."""
    names = said["tokenizer.ggml.tokens"]
    ids = {key: said.get(f"tokenizer.ggml.{key}_token_id") for key in ("bos", "eos")}
    special = {f"{key}_token": names[id] for key, id in ids.items() if id is not None}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def _configured(described: Described) -> Any:
    """Return the config of a model, whose file may divide the frequencies of its rotary positions."""
    given = {key: value for key, value in described.config.items() if key not in NOT_IN_CONFIGS}
    if FREQUENCIES in described.header.tensors:
        if described.architecture not in DIVIDED:
            raise UserError(f"it has the tensor {FREQUENCIES!r}, unknown in a {described.architecture}; {FULL}")
        check_shape(FREQUENCIES, described.header.tensors[FREQUENCIES].shape, (given["head_dim"] // 2,))
        divisors = _values(described.header.tensors[FREQUENCIES])
        if not np.isfinite(divisors).all() or divisors.min() <= 0:
            raise UserError(f"its tensor {FREQUENCIES} holds a number that divides no frequency; {DAMAGED}")
        if (divisors != 1).any():  # the name of any divisors in transformers, of short texts and of long ones
            given["rope_parameters"] |= {"rope_type": "longrope", "factor": 1.0, "attention_factor": 1.0}
            given["rope_parameters"] |= {"short_factor": divisors.tolist(), "long_factor": divisors.tolist()}
            given["rope_parameters"] |= {"original_max_position_embeddings": given["max_position_embeddings"]}
    return AutoConfig.for_model(described.config["model_type"], **given, dtype="float32")


def _weights(described: Described, config: Any) -> dict[str, torch.Tensor]:
    """Return the weights of a model in float32, by their names in transformers, which all have the model's shapes.

    transformers knows how llama.cpp renames and changes them, but leaves out what it cannot place.
    """
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    own = PROCESSORS.get(described.architecture, TensorProcessor)(config=config.to_dict())
    names = get_gguf_hf_weights_map(model, own, described.architecture)
    made: dict[str, torch.Tensor] = {}
    for name, tensor in described.header.tensors.items():
        if name == FREQUENCIES:
            continue
        values = _values(tensor)
        done = own.process(values, name, tensor_key_mapping=names, parsed_parameters={"tensors": made})
        if done.name is None:  # it is among those that are made
            continue
        if done.name not in names:
            raise UserError(f"it has the tensor {name!r}, unknown in a {described.architecture}; {FULL}")
        made[names[done.name]] = torch.from_numpy(np.array(done.weights, np.float32, order="C"))
    untied = {name for name, _ in (*model.named_parameters(), *model.named_buffers())}
    parameters = {name: values for name, values in model.state_dict().items() if name in untied}
    back = {to: name for name, to in names.items()}
    there = {name.removesuffix(end) for name in described.header.tensors for end in ("", ".weight")}
    lacking = {name for name, to in names.items() if to in parameters and name not in there}
    if absent := sorted(lacking | (set(parameters) - set(made) - set(back))):
        raise UserError(f"it lacks the tensor {absent[0]}{and_more(absent)}; {DAMAGED}")
    if further := sorted(back.get(name, name) for name in set(made) - set(parameters)):
        raise UserError(
            f"it has the tensor {further[0]!r}{and_more(further)}, unknown in a {described.architecture}; {FULL}"
        )
    for name, parameter in parameters.items():
        check_shape(str(back.get(name, name)), tuple(made[name].shape), tuple(parameter.shape))
    return made


class _Falcon(TensorProcessor):
    """Falcon's queries, keys and values, which llama.cpp parts; here a key and its value stand behind its queries."""

    def process(self, weights: Any, name: str, **more: Any) -> GGUFTensor:
        """Return the tensor as transformers has it."""
        if ".attn_qkv." in name:
            shared, size = self.config["num_kv_heads"], self.config["hidden_size"] // self.config["num_attention_heads"]
            keys = shared * size
            parts = np.split(weights, [len(weights) - 2 * keys, len(weights) - keys])
            groups = [part.reshape(shared, -1, weights.shape[-1]) for part in parts]
            weights = np.concatenate(groups, axis=1).reshape(weights.shape)
        return GGUFTensor(weights, name, {})


def _values(tensor: Tensor) -> Any:
    """Return the values of a tensor, as an array of float32 that is dequantised where it has to be."""
    stored = np.memmap(tensor.path, np.uint8, "r", tensor.start, tensor.size)
    rows = stored.view(AS_IS[tensor.kind]) if tensor.kind in AS_IS else stored.reshape(*tensor.shape[:-1], -1)
    return dequantize(rows, tensor.kind).reshape(tensor.shape)


PROCESSORS = TENSOR_PROCESSORS | {"falcon": _Falcon, "gemma": TENSOR_PROCESSORS["gemma2"]}
