"""EvaByte (Zheng et al. 2025) without its own code, as a Llama within its attention window.

EvaByte attends exactly within a window of 2048 ids and uses its compressed chunks only beyond it. Up to that length,
the Llama of transformers with EvaByte's weights therefore computes the same logits. RMSNorm weights are stored minus 1,
the parameters of the chunks are dropped and, of the heads, which predict several bytes ahead, the first is kept.
"""

import re
from pathlib import Path

import torch
from tqdm import tqdm
from transformers import LlamaConfig, LlamaModel
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import one_line_errors
from oversmoothing.models.pretrained.folder import (
    CONFIG,
    ModelFolder,
    check_finite,
    check_floats,
    check_folder,
    read_tensors,
)
from oversmoothing.models.truths.token_model import TokenModel, byte_table

BYTE_OFFSET = 64
HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"
OF_CHUNKS = re.compile(r"model\.layers\.\d+\.self_attn\.adaptive_(phi|mu_k)")
# Values that the Llama here requires; a checkpoint with others is a different model.
FIXED = {"model_type": "evabyte", "rope_scaling": None, "hidden_act": "silu", "attention_bias": False}
FIXED |= {"tie_word_embeddings": False}
SIZES = ["vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"]
SIZES += ["num_attention_heads", "num_key_value_heads", "rms_norm_eps"]


def load_evabyte(
    folder: str | Path, name: str, device: torch.device, precision: str, begins: bool = True
) -> TokenModel:
    """Load EvaByte from its folder, tensor by tensor; if it `begins`, its own id is put before every text.

    `precision` is that of the blocks' matrices. Embedding, norms and head are always float32, and so is the residual
    stream between them under `oversmoothing.models.device.autocast`, as in EvaByte's own code.
    """
    content = check_folder(folder)
    config, path = content.config, content.path / CONFIG
    for key, value in FIXED.items():
        if config.get(key, value) != value:
            raise UserError(
                f"{path}: {key} is {config[key]!r}; only EvaByte's own, {value!r}, can be read as a Llama; for another "
                "architecture write `layout: causal_lm`"
            )
    with one_line_errors(f"{path}: no Llama model can be built from it"), torch.device("meta"):
        keys = ("bos_token_id", "num_pred_heads", "window_size", "norm_add_unit_offset")
        bos, heads, window, offset = (int(config[key]) for key in keys)
        llama = LlamaConfig(
            **{key: config[key] for key in SIZES},
            max_position_embeddings=window,
            rope_parameters={"rope_type": "default", "rope_theta": float(config["rope_theta"])},
            attention_bias=False,
        )
        trunk = LlamaModel(llama)
    files = _tensors(content, trunk, (heads * llama.vocab_size, llama.hidden_size))
    check_floats(content, files)
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    head = None
    read = read_tensors(files, rows={HEAD: llama.vocab_size})
    for key, tensor in tqdm(read, desc=f"{name}: loading", total=len(files), unit="tensor", disable=None):
        check_finite(content.path, [(key, tensor)])
        is_matrix = tensor.dim() == 2 and key not in (HEAD, EMBEDDING)
        tensor = tensor.to(device, dtype if is_matrix else torch.float32)
        if key == HEAD:
            head = tensor
            continue
        tensor = tensor if tensor.dim() == 2 else tensor + offset
        trunk.load_state_dict({key.removeprefix("model."): tensor}, assign=True, strict=False)
    trunk.rotary_emb = LlamaRotaryEmbedding(llama).to(device)  # its frequencies are not in the checkpoint
    trunk.requires_grad_(False).eval()
    assert head is not None
    return TokenModel(name, trunk, head, None, byte_table(BYTE_OFFSET), [bos] if begins else [], window, "bytes")


def _tensors(content: ModelFolder, trunk: LlamaModel, head: tuple[int, int]) -> dict[str, Path]:
    """Return the file of each tensor to read, after a check that there are no others and that all shapes are right."""
    expected = {f"model.{key}": tuple(value.shape) for key, value in trunk.state_dict().items()} | {HEAD: head}
    path, shapes = content.path, content.shapes
    files = {key: file for key, file in content.files.items() if not OF_CHUNKS.fullmatch(key)}
    if missing := sorted(set(expected) - set(files)):
        raise UserError(f"{path}: tensor {missing[0]} is missing ({len(missing)} in all); fetch the model again")
    if unknown := sorted(set(files) - set(expected)):
        raise UserError(f"{path}: tensor {unknown[0]} is none of EvaByte's ({len(unknown)} in all)")
    for key in files:
        if shapes[key] != expected[key]:
            made = f"but config.json makes it {expected[key]}"
            raise UserError(f"{path}: tensor {key} has the shape {shapes[key]}, {made}")
    return files
