"""A small model of each architecture in GGUF, written as llama.cpp's converter writes it.

`TOYS` has, by the architecture's name, its ``model_type`` in transformers, its config, and its keys in the header.
"""

from typing import NamedTuple

import numpy as np
import torch
from gguf import MODEL_ARCH, MODEL_ARCH_NAMES, GGUFWriter, get_tensor_name_map
from gguf_models import add_tokens, interleaved
from hub_models import write_bpe
from transformers import AutoConfig, AutoModelForCausalLM

TOKENS = 301
BASE = {"vocab_size": TOKENS, "max_position_embeddings": 64, "hidden_size": 64, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48}
SIZES = {"context_length": 64, "embedding_length": 64, "block_count": 2}
IN_GGUF = SIZES | {"attention.head_count": 4, "attention.head_count_kv": 2, "feed_forward_length": 48}
RMS, NORM = {"attention.layer_norm_rms_epsilon": 1e-5}, {"attention.layer_norm_epsilon": 1e-5}
ROPE = {"rope.freq_base": 20_000.0}
DEFAULT_ROPE = {"rope_type": "default", "rope_theta": 20_000.0}


class Toy(NamedTuple):
    """A small model; `differs` says why transformers itself reads another model in the file."""

    architecture: str
    model_type: str
    config: dict
    keys: dict
    differs: str = ""


def _rope(**more):
    return {"rope_parameters": DEFAULT_ROPE | more}


def _gemma3(scale):
    near, far = {"rope_type": "default", "rope_theta": 10_000.0}, {"rope_theta": 20_000.0}
    far |= {"rope_type": "linear", "factor": scale} if scale != 1 else {"rope_type": "default"}
    return {"rope_parameters": {"sliding_attention": near, "full_attention": far}, "final_logit_softcapping": None}


ALL = BASE | HEADS
LLAMA = ALL | _rope() | {"rms_norm_eps": 1e-5}
LLAMA_KEYS = IN_GGUF | RMS | ROPE
OF_SIX = {"num_hidden_layers": 7}  # the sixth layer sees the whole context
GEMMA = LLAMA | {"head_dim": 256, "sliding_window": 16, "tie_word_embeddings": True}
GEMMA_KEYS = LLAMA_KEYS | {"attention.key_length": 256, "attention.value_length": 256, "attention.sliding_window": 16}
GEMMA2_KEYS = GEMMA_KEYS | {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}
MOE = {"num_experts": 4, "num_experts_per_tok": 2}
MOE_KEYS = {"expert_count": 4, "expert_used_count": 2}
QWEN3_MOE = LLAMA | MOE | {"head_dim": 32, "moe_intermediate_size": 768, "norm_topk_prob": True}
QWEN3_MOE_KEYS = LLAMA_KEYS | MOE_KEYS | {"attention.key_length": 32, "expert_feed_forward_length": 768}
QWEN2_MOE = LLAMA | MOE | {"moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632}
QWEN2_MOE_KEYS = LLAMA_KEYS | MOE_KEYS
QWEN2_MOE_KEYS |= {"expert_feed_forward_length": 1408, "expert_shared_feed_forward_length": 5632}
PADDED = "needs 32,001 tokens, as one is its default for padding"
STABLELM = ALL | {"layer_norm_eps": 1e-5, "use_qkv_bias": True}
FALCON = BASE | {"num_attention_heads": 4, "ffn_hidden_size": 48, "bias": False}
GPT2 = BASE | {"num_attention_heads": 4}
TOYS = {
    "llama": Toy("llama", "llama", LLAMA, LLAMA_KEYS | {"rope.dimension_count": 16}),
    "qwen2": Toy("qwen2", "qwen2", LLAMA, LLAMA_KEYS),
    "qwen3": Toy("qwen3", "qwen3", LLAMA | {"head_dim": 128}, LLAMA_KEYS | {"attention.key_length": 128}),
    "qwen2moe": Toy("qwen2moe", "qwen2_moe", QWEN2_MOE, QWEN2_MOE_KEYS),
    "qwen3moe": Toy("qwen3moe", "qwen3_moe", QWEN3_MOE, QWEN3_MOE_KEYS),
    "minimax-m2": Toy(
        "minimax-m2",
        "minimax_m2",
        ALL
        | _rope(partial_rotary_factor=0.5)
        | {"head_dim": 32, "num_local_experts": 4, "num_experts_per_tok": 2}
        | {"rms_norm_eps": 1e-5},
        LLAMA_KEYS
        | MOE_KEYS
        | {"attention.key_length": 32, "attention.value_length": 32, "rope.dimension_count": 16}
        | {"expert_gating_func": 2, "expert_feed_forward_length": 48},
    ),
    "gemma": Toy("gemma", "gemma", GEMMA, GEMMA_KEYS, "does not know it"),
    "gemma2": Toy("gemma2", "gemma2", GEMMA, GEMMA2_KEYS),
    "gemma3": Toy(
        "gemma3",
        "gemma3_text",
        GEMMA | OF_SIX | _gemma3(1),
        GEMMA_KEYS | {"block_count": 7, "rope.freq_base_swa": 10_000.0},
    ),
    "phi3": Toy("phi3", "phi3", LLAMA | {"pad_token_id": None}, LLAMA_KEYS | {"attention.sliding_window": 0}, PADDED),
    "stablelm": Toy(
        "stablelm",
        "stablelm",
        STABLELM | {"rope_parameters": {"rope_theta": 10_000.0, "partial_rotary_factor": 0.25}},
        IN_GGUF | NORM | {"rope.dimension_count": 4, "use_parallel_residual": False},
    ),
    "starcoder2": Toy("starcoder2", "starcoder2", ALL | {"sliding_window": None}, IN_GGUF | NORM),
    "nemotron": Toy(
        "nemotron",
        "nemotron",
        ALL | _rope(partial_rotary_factor=0.5) | {"norm_eps": 1e-5},
        IN_GGUF | NORM | ROPE | {"rope.dimension_count": 8},
    ),
    "falcon": Toy(
        "falcon",
        "falcon",
        FALCON | {"ffn_hidden_size": 256, "tie_word_embeddings": True},
        IN_GGUF | NORM | {"attention.head_count_kv": 1, "feed_forward_length": 256},
    ),
    "gpt2": Toy(
        "gpt2",
        "gpt2",
        GPT2 | {"max_position_embeddings": 1024},
        IN_GGUF | NORM | {"context_length": 1024, "feed_forward_length": 256, "attention.head_count_kv": 4},
    ),
    "bloom": Toy(
        "bloom", "bloom", GPT2 | {"tie_word_embeddings": True}, IN_GGUF | NORM | {"attention.head_count_kv": 4}
    ),
    "mamba": Toy(
        "mamba",
        "mamba",
        BASE | {"state_size": 8, "expand": 2, "conv_kernel": 4, "time_step_rank": 4, "tie_word_embeddings": True},
        SIZES | RMS | {"ssm.conv_kernel": 4, "ssm.inner_size": 128, "ssm.state_size": 8, "ssm.time_step_rank": 4},
    ),
    "lfm2": Toy(
        "lfm2",
        "lfm2",
        ALL | _rope() | {"layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False},
        LLAMA_KEYS | {"attention.head_count_kv": [0, 2], "shortconv.l_cache": 3},
    ),
    # What transformers leaves out of a file, or takes from its own defaults.
    "gemma2, other heads": Toy(
        "gemma2",
        "gemma2",
        GEMMA | {"head_dim": 32, "query_pre_attn_scalar": 32},
        GEMMA2_KEYS | {"attention.key_length": 32, "attention.value_length": 32},
        "divides queries as by heads of 256 numbers",
    ),
    "gemma3, scaled": Toy(
        "gemma3",
        "gemma3_text",
        GEMMA | OF_SIX | _gemma3(8.0),
        GEMMA_KEYS | {"block_count": 7, "rope.scaling.type": "linear", "rope.scaling.factor": 8.0},
        "does not scale positions",
    ),
    "phi3, window": Toy(
        "phi3",
        "phi3",
        LLAMA | _rope(partial_rotary_factor=0.75) | {"pad_token_id": None, "sliding_window": 16},
        LLAMA_KEYS | {"attention.sliding_window": 16, "rope.dimension_count": 12},
        "turns all numbers of a head and sees the whole context",
    ),
    "stablelm, parallel": Toy(
        "stablelm",
        "stablelm",
        STABLELM
        | _rope(partial_rotary_factor=0.5)
        | {"use_qkv_bias": False, "use_parallel_residual": True, "num_key_value_heads": 4},
        IN_GGUF | NORM | ROPE | {"rope.dimension_count": 8, "attention.head_count_kv": 4},
        "turns a quarter of a head's numbers",
    ),
    "starcoder2, its base": Toy(
        "starcoder2",
        "starcoder2",
        ALL | _rope() | {"sliding_window": None},
        IN_GGUF | NORM | ROPE,
        "takes 10,000 for the base of positions",
    ),
    "falcon, second": Toy(
        "falcon",
        "falcon",
        FALCON | {"num_kv_heads": 2, "new_decoder_architecture": True, "tie_word_embeddings": False},
        IN_GGUF | NORM,
        "does not part queries and keys by group",
    ),
    "falcon, one norm": Toy(
        "falcon",
        "falcon",
        FALCON | {"num_kv_heads": 2, "new_decoder_architecture": True, "num_ln_in_parallel_attn": 1},
        IN_GGUF | NORM,
        "does not part queries and keys by group",
    ),
    "gpt2, short": Toy(
        "gpt2",
        "gpt2",
        GPT2 | {"n_inner": 48, "tie_word_embeddings": False},
        IN_GGUF | NORM | {"attention.head_count_kv": 4},
        "takes a context of 1,024 and its own width of layers",
    ),
    "qwen3moe, other experts": Toy(
        "qwen3moe",
        "qwen3_moe",
        QWEN3_MOE | {"moe_intermediate_size": 24},
        QWEN3_MOE_KEYS | {"expert_feed_forward_length": 24},
        "takes its own width of experts",
    ),
}


def write_toy(path, toy, without=None):
    """Write a toy to a GGUF file, but for one tensor; return the model that it was made of."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(toy.model_type, **{"bos_token_id": 0, "eos_token_id": 1} | toy.config)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape) / max(1, parameter.shape[-1]) ** 0.5
    write_bpe(path.parent / "source")
    writer = GGUFWriter(path, toy.architecture)
    for key, value in toy.keys.items():
        add = {int: writer.add_uint32, float: writer.add_float32, bool: writer.add_bool, str: writer.add_string}
        add.get(type(value), writer.add_array)(f"{toy.architecture}.{key}", value)
    add_tokens(writer, path.parent / "source", TOKENS, "gpt-2", "gpt2")
    arch = next(each for each in MODEL_ARCH if MODEL_ARCH_NAMES[each] == toy.architecture)
    names = get_tensor_name_map(arch, config.num_hidden_layers)
    prefix = "transformer." if toy.architecture == "bloom" else ""
    biases = [(name, values) for name, values in model.state_dict().items() if "correction_bias" in name]
    for name, values in biases:
        values += torch.linspace(-0.5, 0.5, len(values))
        writer.add_tensor(f"blk.{name.split('.')[2]}.exp_probs_b.bias", values.numpy())
    for name, weight in model.named_parameters():
        suffix = next((end for end in (".weight", ".bias") if name.endswith(end)), "")
        stem = name.removesuffix(suffix)
        for own, values in as_llama_cpp(toy, config, name, weight.detach().numpy()):
            to = own or f"{names.get_name(stem.removeprefix(prefix))}{suffix}"
            if to != without:
                writer.add_tensor(to, np.ascontiguousarray(values, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def as_llama_cpp(toy, config, name, values):
    """Yield names, None for the usual one, and values of a tensor of transformers in GGUF."""
    heads, kind = getattr(config, "num_attention_heads", None), toy.architecture
    if kind.startswith("gemma") or kind == "nemotron":
        values = values + 1 if name.endswith("norm.weight") or "layernorm.weight" in name else values
    elif kind == "llama" and ("q_proj" in name or "k_proj" in name):
        values = interleaved(values, heads if "q_proj" in name else config.num_key_value_heads)
    elif kind == "gpt2" and ".c_" in name and values.ndim == 2:
        values = values.T
    elif kind == "bloom" and "query_key_value" in name:
        size = config.hidden_size // heads
        values = values.reshape(heads, 3, size, -1).swapaxes(0, 1).reshape(values.shape)
    elif kind == "falcon" and "query_key_value" in name:
        groups = values.reshape(config.num_kv_heads if config.new_decoder_architecture else 1, -1, 16, 64)
        parts = groups[:, :-2], groups[:, -2], groups[:, -1]
        values = np.concatenate([part.reshape(-1, 64) for part in parts])
    elif "A_log" in name:
        values = -np.exp(values)
    elif "conv1d.weight" in name or "conv.conv.weight" in name or "shared_expert_gate" in name:
        values = values.squeeze()
    elif "experts.gate_up_proj" in name:
        layer, half = name.split(".")[2], values.shape[1] // 2
        yield f"blk.{layer}.ffn_gate_exps.weight", values[:, :half]
        yield f"blk.{layer}.ffn_up_exps.weight", values[:, half:]
        return
    elif "experts.down_proj" in name:
        yield f"blk.{name.split('.')[2]}.ffn_down_exps.weight", values
        return
    yield None, values
