"""Small models with random weights in the layouts of the hub, and EvaByte's forward pass in plain NumPy."""

import json

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMultimodalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    PreTrainedTokenizerFast,
)

from oversmoothing.data.tokens.vocabulary import load_tokenizer, vocabulary_of

EVABYTE = {
    "architectures": ["EvaByteForCausalLM"],
    "model_type": "evabyte",
    "attention_bias": False,
    "bos_token_id": 1,
    "hidden_act": "silu",
    "hidden_size": 32,
    "intermediate_size": 48,
    "norm_add_unit_offset": True,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "num_pred_heads": 3,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 100000.0,
    "tie_word_embeddings": False,
    "vocab_size": 320,
    "window_size": 128,
}
TEXT = "the people of the town read their letters where the river flows past; ünd so on. " * 60  # for commands to read


def evabyte_tensors(config=EVABYTE, seed=0):
    """Draw the tensors of an EvaByte under its own names."""
    draw = torch.Generator().manual_seed(seed)
    d, m, v = config["hidden_size"], config["intermediate_size"], config["vocab_size"]

    def matrix(*shape):
        return torch.randn(shape, generator=draw) * 2 / np.sqrt(shape[-1])

    def norm():
        return torch.randn(d, generator=draw) * 0.2

    tensors = {"lm_head.weight": matrix(config["num_pred_heads"] * v, d), "model.embed_tokens.weight": matrix(v, d)}
    tensors["model.norm.weight"] = norm()
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{layer}{name}.weight"] = norm()
        for name in "qkvo":
            tensors[f"{layer}self_attn.{name}_proj.weight"] = matrix(d, d)
        for name in ("adaptive_phi", "adaptive_mu_k"):
            tensors[f"{layer}self_attn.{name}"] = matrix(1, 2, 1, 1, d // 2)
        tensors[f"{layer}mlp.gate_proj.weight"] = matrix(m, d)
        tensors[f"{layer}mlp.up_proj.weight"] = matrix(m, d)
        tensors[f"{layer}mlp.down_proj.weight"] = matrix(d, m)
    return tensors


def write_evabyte(folder, config=EVABYTE, tensors=None, shards=1):
    """Write an EvaByte as the hub has it, in one file or in several with an index; return its tensors."""
    tensors = evabyte_tensors(config) if tensors is None else tensors
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return tensors
    names = sorted(tensors)
    files = {
        name: f"model-{i * shards // len(names) + 1:05}-of-{shards:05}.safetensors" for i, name in enumerate(names)
    }
    for file in set(files.values()):
        save_file({name: tensors[name] for name in names if files[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": files}))
    return tensors


def evabyte_logits(tensors, ids, config=EVABYTE):
    """Compute the logits (time, vocabulary) of ids (time,) as EvaByte's paper and config describe it, in float64."""
    w = {name: tensor.double().numpy() for name, tensor in tensors.items()}
    heads, size = config["num_attention_heads"], config["hidden_size"] // config["num_attention_heads"]
    time = len(ids)

    def normed(x, name):
        scale = config["norm_add_unit_offset"] + w[name]
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + config["rms_norm_eps"]) * scale

    frequencies = config["rope_theta"] ** (-np.arange(0, size, 2) / size)
    turn = np.exp(1j * np.arange(time)[:, None] * frequencies)  # a rotation is a product of complex numbers

    def split(x, rotated):
        x = x.reshape(time, heads, size).transpose(1, 0, 2)
        if not rotated:
            return x
        z = (x[..., : size // 2] + 1j * x[..., size // 2 :]) * turn
        return np.concatenate([z.real, z.imag], -1)

    x = w["model.embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        h = normed(x, f"{layer}input_layernorm.weight")
        q, k, v = (split(h @ w[f"{layer}self_attn.{name}_proj.weight"].T, name != "v") for name in "qkv")
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
        scores[:, np.triu(np.ones((time, time), bool), 1)] = -np.inf
        p = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (p / p.sum(-1, keepdims=True)) @ v
        x = x + mixed.transpose(1, 0, 2).reshape(time, -1) @ w[f"{layer}self_attn.o_proj.weight"].T
        h = normed(x, f"{layer}post_attention_layernorm.weight")
        gate = h @ w[f"{layer}mlp.gate_proj.weight"].T
        x = (
            x
            + (gate / (1 + np.exp(-gate)) * (h @ w[f"{layer}mlp.up_proj.weight"].T))
            @ w[f"{layer}mlp.down_proj.weight"].T
        )
    return normed(x, "model.norm.weight") @ w["lm_head.weight"][: config["vocab_size"]].T


def write_gpt2(folder, vocabulary=300, tokenizer=True):
    """Write a GPT-2 with random weights, and a byte-level tokenizer, as the hub has them."""
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=vocabulary, n_positions=96, n_embd=16, n_layer=1, n_head=2)
    model = GPT2LMHeadModel(config).eval()
    torch.nn.init.normal_(model.transformer.wte.weight, std=0.5)
    model.save_pretrained(folder)
    if tokenizer:
        write_tokenizer(folder, ["some text"])
    return model


def write_neox(folder, seed=0, layers=3, width=16, context=64):
    """Write a GPT-NeoX with random weights and a byte-pair tokenizer, as the hub has Pythia; return the model.

    Its matrices grow with the seed, so that revisions differ in all that is measured of them.
    """
    torch.manual_seed(seed)
    shape = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 2, "intermediate_size": 32}
    model = GPTNeoXForCausalLM(GPTNeoXConfig(vocab_size=320, max_position_embeddings=context, **shape)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 2 + seed if parameter.dim() >= 2 else 1
    model.save_pretrained(folder)
    write_tokenizer(folder, ["some text of the water that reads as prose does " * 4], size=300)
    return model


def write_tokenizer(folder, texts, size=30_000):
    """Write a byte-level byte-pair tokenizer, trained on a few texts."""
    PreTrainedTokenizerFast(tokenizer_object=_trained(texts, vocab_size=size)).save_pretrained(folder)


def _trained(texts, **options):
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    own.train_from_iterator(texts, trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False, **options))
    return own


# Small models over tokens: the type of transformers, the number of rows of the head, and what else its config needs.
# Pythia's heads, like that of "neox" here, have more rows than its tokenizer has ids.
OF_LLAMA = {"num_key_value_heads": 1, "intermediate_size": 24}
TOKEN_LAYOUTS = {
    "gpt2": ("gpt2", 301, {}),
    "neox": ("gpt_neox", 320, {"intermediate_size": 24}),
    "llama": ("llama", 301, OF_LLAMA),
    "olmo": ("olmo", 304, OF_LLAMA),
    "olmo2": ("olmo2", 304, OF_LLAMA),
    "qwen2": ("qwen2", 312, OF_LLAMA | {"tie_word_embeddings": True}),
    "qwen3": ("qwen3", 301, OF_LLAMA | {"head_dim": 128}),
}
ODD_LAYOUTS = {
    "phi": ("phi", 301, OF_LLAMA),
    "cohere": ("cohere", 301, OF_LLAMA | {"logit_scale": 0.3}),
    "granite": ("granite", 301, OF_LLAMA | {"logits_scaling": 0.3}),
    "gemma2": ("gemma2", 301, OF_LLAMA | {"head_dim": 8}),
    "hyperclovax": ("hyperclovax", 301, OF_LLAMA | {"logits_scaling": 0.7}),
    "llama4": ("llama4_text", 301, OF_LLAMA | {"intermediate_size_mlp": 24, "head_dim": 8, "num_local_experts": 2}),
    "gemma3n": (
        "gemma3n_text",
        301,
        {"num_key_value_heads": 1, "intermediate_size": [24, 24], "head_dim": 8, "num_kv_shared_layers": 0}
        | {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 301, "laurel_rank": 4},
    ),
    "phi3": (
        "phi3",
        301,
        OF_LLAMA
        | {"original_max_position_embeddings": 24}
        | {"rope_scaling": {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [1.0, 2.0, 4.0, 8.0]}},
    ),
    "mamba": ("mamba", 301, {"state_size": 4, "time_step_rank": 4}),
    "minimax": ("minimax", 301, OF_LLAMA | {"head_dim": 8, "num_local_experts": 2}),
    "recurrent_gemma": (
        "recurrent_gemma",
        301,
        OF_LLAMA | {"head_dim": 8, "block_types": ["recurrent", "attention"], "lru_width": 16},
    ),
    "rwkv": ("rwkv", 301, {"attention_hidden_size": 16, "intermediate_size": 24}),
}
# Models of texts and images, of which only the text part is used here: that part, and more of it.
WRAPPED = {
    "gemma3": ("gemma3_text", {"head_dim": 8}),
    "mistral3": ("mistral", {"head_dim": 8}),
    "qwen2_vl": ("qwen2_vl_text", {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}),
}


def write_token_model(folder, layout, rows=None, dtype=torch.float32, **options):
    """Write a model with random weights in a layout of the hub, a context of 64 ids and the tokenizer below."""
    torch.manual_seed(0)
    kind, own_rows, more = (TOKEN_LAYOUTS | ODD_LAYOUTS)[layout]
    config = AutoConfig.for_model(kind, vocab_size=rows or own_rows, **SHAPE, **more)
    model = _drawn(AutoModelForCausalLM.from_config(config), dtype)
    model.save_pretrained(folder, **options)
    write_bpe(folder)
    return model


SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 64}
SHAPE |= {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": None}


def write_wrapped(folder, kind):
    """Write a model of texts and images with random weights, and the tokenizer below; return the model."""
    torch.manual_seed(0)
    part, more = WRAPPED[kind]
    vision = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 1, "intermediate_size": 8, "depth": 3}
    vision |= {"image_size": 8, "patch_size": 4, "embed_dim": 8, "num_heads": 1, "head_dim": 8}
    text = SHAPE | OF_LLAMA | {"vocab_size": 301} | more
    images = {"image_token_index": 299, "image_token_id": 299, "mm_tokens_per_image": 4}
    config = AutoConfig.for_model(kind, text_config=text | {"model_type": part}, vision_config=vision, **images)
    model = _drawn(AutoModelForMultimodalLM.from_config(config))
    model.save_pretrained(folder)
    write_bpe(folder)
    return model


def _drawn(model, dtype=torch.float32, std=0.3):
    with torch.no_grad():
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=std)
    return model.eval().to(dtype)


def write_gemma2(folder, size, cap, std=0.3):
    """Write a Gemma 2 of width 32 with random weights; `size` is 256, of bytes, or that of its tokenizer."""
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 64}
    caps = {"final_logit_softcapping": cap, "attn_logit_softcapping": 5.0}
    config = AutoConfig.for_model("gemma2", vocab_size=size, **shape, **OF_LLAMA, head_dim=16, **caps)
    model = _drawn(AutoModelForCausalLM.from_config(config), std=std)
    model.save_pretrained(folder)
    if size > 256:
        write_bpe(folder, size=size)
    return model


def write_bpe(folder, begins=False, size=301):
    """Write a byte-level byte-pair tokenizer of 301 ids, of which the first two are special and the last is added.

    With `begins`, it puts the id 0 before a text. A larger `size` adds more ids.
    """
    text = "the water of the river flows past the houses where the people of the town read and write their letters"
    own = _trained([text], vocab_size=300, special_tokens=["<s>", "</s>"])
    own.add_tokens([AddedToken("    ", normalized=False)])
    own.add_tokens([AddedToken(f"[{i}]", normalized=False) for i in range(301, size)])
    if begins:
        own.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    PreTrainedTokenizerFast(tokenizer_object=own, bos_token="<s>", eos_token="</s>").save_pretrained(folder)


def vocabulary(folder):
    """Return the vocabulary of the tokenizer in a folder."""
    path = folder / "tokenizer.json"
    return vocabulary_of(load_tokenizer(path), path)


def edit(path, **values):
    """Change some values of a JSON object in a file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def files_of(folder):
    """Return a folder's files, as `local_hub.Repo` serves them."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def check_remembering(model, tokens):
    """Assert that logits are the same with cached keys and values; tokens (3, n)."""
    plain = model.logits(model.hidden(tokens)[1])
    cache = model.cache(tokens.shape[1])
    torch.testing.assert_close(cache.feed(tokens[:, :9]), plain[:, 8], atol=1e-4, rtol=0)
    for j in range(9, 21):
        torch.testing.assert_close(cache.feed(tokens[:, j : j + 1]), plain[:, j], atol=1e-4, rtol=0)
