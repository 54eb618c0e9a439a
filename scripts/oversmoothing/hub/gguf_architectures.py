"""Which architectures in GGUF files are converted: their numbers, by keys of a header, and their configs.

Numbers are named as in configs of transformers. What a header leaves out is what llama.cpp takes.
"""

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

from oversmoothing.hub.gguf_header import shown
from oversmoothing.jobs import UserError

Own = Mapping[str, Any]  # values of a header by their keys behind the architecture's name
Config = dict[str, Any]


class Number(NamedTuple):
    """A number of a header: its name in configs of transformers, bounds, and what it is if nothing is said."""

    name: str
    least: float
    most: float
    otherwise: float | None = None


class Architecture(NamedTuple):
    """An architecture: its ``model_type`` in transformers, its numbers, and what else its config says.

    `further` returns the rest of the config from the keys, the names of the tensors and the config so far.
    `any_head` says that heads may have another size than the width over their number, and `part` that fewer numbers of
    a head may be turned by positions. `rotary` is False without rotary positions, `scaled` where they may be scaled;
    `by_layer` says that the number of heads of keys is given by layer, 0 in one without attention.
    """

    model_type: str
    numbers: Mapping[str, Number]
    further: Callable[[Own, Container[str], Config], Config] = lambda own, tensors, config: {}
    any_head: bool = False
    part: bool = False
    rotary: bool = True
    scaled: bool = False
    by_layer: bool = False
    keys: tuple[str, ...] = ()  # others that `further` reads, or that change nothing


# A whole number has whole bounds.
COUNT = {
    "expert_count": Number("num_experts", 1, 1 << 12),
    "expert_used_count": Number("num_experts_per_tok", 1, 1 << 10),
}
SIZES = {
    "context_length": Number("max_position_embeddings", 1, 1 << 30),
    "embedding_length": Number("hidden_size", 1, 1 << 20),
    "block_count": Number("num_hidden_layers", 1, 1 << 12),
}
INNER = {"feed_forward_length": Number("intermediate_size", 1, 1 << 22)}
HEADS = {
    "attention.head_count": Number("num_attention_heads", 1, 1 << 12),
    "attention.head_count_kv": Number("num_key_value_heads", 1, 1 << 12),
}
ROPE = {"rope.freq_base": Number("rope_theta", 1.0, 1e12, 10_000.0)}
WINDOW = {"attention.sliding_window": Number("sliding_window", 1, 1 << 30)}
ANY_WINDOW = {"attention.sliding_window": Number("sliding_window", 0, 1 << 30, 0)}  # 0 is none
ATTENTION = SIZES | INNER | HEADS


def _rms(name: str = "rms_norm_eps") -> dict[str, Number]:
    return {"attention.layer_norm_rms_epsilon": Number(name, 1e-12, 1e-2)}


def _norm(name: str) -> dict[str, Number]:
    return {"attention.layer_norm_epsilon": Number(name, 1e-12, 1e-2)}


def _gemma(own: Own, tensors: Container[str], config: Config) -> Config:
    """Return by what queries are divided, which no file says: the size of heads but in the largest, of 27 billion."""
    largest = {"gemma2": 46, "gemma3_text": 62}[config["model_type"]]
    shared = config["hidden_size"] // config["num_attention_heads"]
    return {"query_pre_attn_scalar": shared if config["num_hidden_layers"] == largest else config["head_dim"]}


def _gemma3(own: Own, tensors: Container[str], config: Config) -> Config:
    """Return positions of both kinds of layers, of which a file describes those that see the whole context."""
    near = {"rope_type": "default", "rope_theta": config["near_rope_theta"]}
    rope = {"sliding_attention": near, "full_attention": config["rope_parameters"]}
    return _gemma(own, tensors, config) | {"rope_parameters": rope, "final_logit_softcapping": None}


def _phi3(own: Own, tensors: Container[str], config: Config) -> Config:
    return {"sliding_window": config["sliding_window"] or None, "pad_token_id": None}


def _stablelm(own: Own, tensors: Container[str], config: Config) -> Config:
    parallel = "blk.0.ffn_norm.weight" not in tensors
    if own.get("use_parallel_residual", parallel) != parallel:
        raise UserError(f"stablelm.use_parallel_residual is {shown(own['use_parallel_residual'])}, and tensors differ")
    return {"use_qkv_bias": "blk.0.attn_q.bias" in tensors, "use_parallel_residual": parallel}


def _falcon(own: Own, tensors: Container[str], config: Config) -> Config:
    """Return which of both Falcons it is: the second has several heads of keys, and two norms before each layer."""
    second, norms = config["num_key_value_heads"] > 1, 1 + ("blk.0.attn_norm_2.weight" in tensors)
    return {
        "num_kv_heads": config["num_key_value_heads"],
        "new_decoder_architecture": second,
        "num_ln_in_parallel_attn": norms if second else None,
        "bias": False,
    }


def _moe(own: Own, tensors: Container[str], config: Config) -> Config:
    """Return how probabilities of the chosen experts are scaled, which no file says, and that all layers have some."""
    return {"norm_topk_prob": config["model_type"] == "qwen3_moe", "decoder_sparse_step": 1, "mlp_only_layers": []}


def _minimax(own: Own, tensors: Container[str], config: Config) -> Config:
    """Raise unless the probabilities of experts are sigmoids, without which transformers has no such model."""
    if (gate := own.get("expert_gating_func", SIGMOID)) != SIGMOID:
        raise UserError(f"minimax-m2.expert_gating_func is {shown(gate)}, and only {SIGMOID}, a sigmoid, is converted")
    return {}


def _lfm2(own: Own, tensors: Container[str], config: Config) -> Config:
    kinds = ("conv", "full_attention")
    layers = range(config["num_hidden_layers"])
    types = [kinds[f"blk.{layer}.attn_q.weight" in tensors] for layer in layers]
    return {
        "layer_types": types,
        "block_auto_adjust_ff_dim": False,
        "conv_bias": "blk.0.shortconv.conv.bias" in tensors,
    }


SIGMOID = 2  # how `expert_gating_func` says it
UNUSED_BY_MAMBA = ("attention.head_count", "feed_forward_length")
SSM = {
    "ssm.conv_kernel": Number("conv_kernel", 1, 1 << 10),
    "ssm.inner_size": Number("intermediate_size", 1, 1 << 22),
    "ssm.state_size": Number("state_size", 1, 1 << 16),
    "ssm.time_step_rank": Number("time_step_rank", 1, 1 << 16),
}
QWEN2_MOE = COUNT | {
    "expert_feed_forward_length": Number("moe_intermediate_size", 1, 1 << 22),
    "expert_shared_feed_forward_length": Number("shared_expert_intermediate_size", 1, 1 << 22),
}
QWEN3_MOE = COUNT | {"expert_feed_forward_length": Number("moe_intermediate_size", 1, 1 << 22)}
NEAR = {"rope.freq_base_swa": Number("near_rope_theta", 1.0, 1e12, 10_000.0)}  # of layers with a window
CAPS = {
    "attn_logit_softcapping": Number("attn_logit_softcapping", 1e-3, 1e6, 50.0),
    "final_logit_softcapping": Number("final_logit_softcapping", 1e-3, 1e6, 30.0),
}
LLAMA = ATTENTION | _rms() | ROPE
ARCHITECTURES = {
    "llama": Architecture("llama", LLAMA, any_head=True),
    "qwen2": Architecture("qwen2", LLAMA, any_head=True),
    "qwen3": Architecture("qwen3", LLAMA, any_head=True),
    "qwen2moe": Architecture("qwen2_moe", LLAMA | QWEN2_MOE, _moe, any_head=True),
    "qwen3moe": Architecture("qwen3_moe", LLAMA | QWEN3_MOE, _moe, any_head=True),
    "minimax-m2": Architecture(
        "minimax_m2",
        LLAMA | COUNT | {"expert_count": Number("num_local_experts", 1, 1 << 12)},
        _minimax,
        any_head=True,
        part=True,
        keys=("expert_gating_func", "expert_feed_forward_length"),
    ),
    "gemma": Architecture("gemma", LLAMA, any_head=True),
    "gemma2": Architecture("gemma2", LLAMA | WINDOW | CAPS, _gemma, any_head=True),
    "gemma3": Architecture("gemma3_text", LLAMA | WINDOW | NEAR, _gemma3, any_head=True, scaled=True),
    "phi3": Architecture("phi3", LLAMA | ANY_WINDOW, _phi3, part=True),
    "stablelm": Architecture(
        "stablelm", ATTENTION | _norm("layer_norm_eps") | ROPE, _stablelm, part=True, keys=("use_parallel_residual",)
    ),
    "starcoder2": Architecture(
        "starcoder2", ATTENTION | _norm("norm_epsilon") | ROPE, lambda *_: {"sliding_window": None}
    ),
    "nemotron": Architecture("nemotron", ATTENTION | _norm("norm_eps") | ROPE, any_head=True, part=True),
    "falcon": Architecture(
        "falcon",
        ATTENTION | {"feed_forward_length": Number("ffn_hidden_size", 1, 1 << 22)} | _norm("layer_norm_epsilon") | ROPE,
        _falcon,
    ),
    "gpt2": Architecture(
        "gpt2",
        ATTENTION | {"feed_forward_length": Number("n_inner", 1, 1 << 22)} | _norm("layer_norm_epsilon"),
        rotary=False,
    ),
    "bloom": Architecture("bloom", ATTENTION | _norm("layer_norm_epsilon"), rotary=False),
    "mamba": Architecture("mamba", SIZES | SSM | _rms("layer_norm_epsilon"), rotary=False, keys=UNUSED_BY_MAMBA),
    "lfm2": Architecture(
        "lfm2",
        ATTENTION | {"shortconv.l_cache": Number("conv_L_cache", 1, 1 << 10)} | _rms("norm_eps") | ROPE,
        _lfm2,
        any_head=True,
        by_layer=True,
    ),
}
