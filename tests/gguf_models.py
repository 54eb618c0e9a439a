"""Small models in GGUF files and in wheels, written with the `gguf` package and as zip archives."""

import json
import zipfile

import numpy as np
from gguf import MODEL_ARCH, GGUFReader, GGUFWriter, TokenType, get_tensor_name_map, quantize
from hub_models import write_token_model
from tokenizers import Tokenizer

ARCHITECTURES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2, "qwen3": MODEL_ARCH.QWEN3}
TYPES = {"special": TokenType.CONTROL, "added": TokenType.USER_DEFINED, "normal": TokenType.NORMAL}


def write_small_gguf(path, layout="llama", division="gpt-2", kind="gpt2", more=None, weights=None, stored=None):
    """Write a model of `hub_models.write_token_model` to a GGUF file; return the folder that it came from.

    `division` is the key ``tokenizer.ggml.pre``, `kind` is ``tokenizer.ggml.model``; `more` adds what else there is.
    `weights` may change each tensor, by name, or drop it with None. `stored` is the type in which those are whose rows
    have a multiple of 32 numbers.
    """
    folder = path.parent / f"{path.stem}-source"
    model = write_token_model(folder, layout)
    config, architecture = model.config, model.config.model_type
    writer = GGUFWriter(path, architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if architecture == "llama":
        writer.add_rope_dimension_count(config.head_dim)
    if architecture == "qwen3":
        writer.add_key_length(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    add_tokens(writer, folder, config.vocab_size, division, kind)
    if more:
        more(writer)
    names = get_tensor_name_map(ARCHITECTURES[architecture], config.num_hidden_layers)
    for name, weight in model.named_parameters():
        values = weight.detach().numpy().astype(np.float32)
        stem, _, last = name.rpartition(".")
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            values = interleaved(values, heads)
        values = weights(name, values) if weights else values
        if values is None:
            continue
        to = f"{names.get_name(stem)}.{last}"
        if stored is not None and values.shape[-1] % 32 == 0:  # the numbers of a block
            writer.add_tensor(to, quantize(values, stored), raw_dtype=stored)
        else:
            writer.add_tensor(to, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder


def write_parts(path, most):
    """Write the model in a GGUF file into several beside it, with so many tensors at most; return the first."""
    reader = GGUFReader(path)
    architecture = reader.get_field("general.architecture").contents()
    writer = GGUFWriter(path, architecture, split_max_tensors=most)
    for name, field in reader.fields.items():
        if name not in ("general.architecture", "GGUF.version", "GGUF.tensor_count", "GGUF.kv_count"):
            inner = field.types[1] if len(field.types) > 1 else None
            writer.add_key_value(name, field.contents(), field.types[0], inner)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, np.array(tensor.data))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(path.parent.glob(f"{path.stem}-00001-of-*.gguf"))[0]


def interleaved(values, heads):
    """Return a map to queries or keys with its rows as llama.cpp has them: the two halves of a head alternate."""
    rows, columns = values.shape
    return values.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def add_tokens(writer, folder, rows, division, kind):
    """Add the tokens of a byte-level tokenizer in a folder, and names for rows without one."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    added = tokenizer.get_added_tokens_decoder()
    names = {id: name for name, id in tokenizer.get_vocab(with_added_tokens=True).items()}
    types = []
    for id in range(rows):
        if id not in names:
            types.append(TokenType.UNUSED)
        elif id in added:
            types.append(TYPES["special" if added[id].special else "added"])
        else:
            types.append(TYPES["normal"])
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model(kind)
    writer.add_tokenizer_pre(division)
    writer.add_token_list([names.get(id, f"[PAD{id}]") for id in range(rows)])
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def write_wheel(folder, files, name="small_model", version="0.1"):
    """Write a wheel of a package that holds files, by name, and code that must not run; return its path."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    described = {
        f"{name}/__init__.py": "raise SystemExit('ran')",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/LICENSE": "Do as you like.\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in (described | files).items():
            archive.writestr(file, content)
        archive.writestr(f"{about}/RECORD", "".join(f"{file},,\n" for file in (*described, *files, f"{about}/RECORD")))
    return path
