"""GGUF files as folders: weights, config and tokenizer of the models that they came from, and what is refused."""

import json

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf_models import write_small_gguf
from hub_models import TOKEN_LAYOUTS, edit, write_token_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

from oversmoothing.data.tokens.alike import PROBE
from oversmoothing.data.tokens.vocabulary import ids_before_texts, load_tokenizer, vocabulary_of
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.from_gguf import write_folder
from oversmoothing.models.pretrained.gguf_tokenizer import PRE_TOKENIZERS


def converted(tmp_path, *arguments, **more):
    """Return the folder of a GGUF file, and the one that it came from."""
    source = write_small_gguf(tmp_path / "small.gguf", *arguments, **more)
    folder = tmp_path / "made"
    folder.mkdir()
    write_folder(tmp_path / "small.gguf", folder)
    return folder, source


@pytest.mark.parametrize("layout", ["llama", "qwen2", "qwen3"])
def test_a_model_is_exactly_the_one_that_it_came_from(tmp_path, layout):
    folder, source = converted(tmp_path, layout)
    made, own = (AutoModelForCausalLM.from_pretrained(each, dtype=torch.float32).eval() for each in (folder, source))
    assert made.config.tie_word_embeddings == own.config.tie_word_embeddings
    weights = dict(made.named_parameters())
    assert set(weights) == {name for name, _ in own.named_parameters()}
    for name, weight in own.named_parameters():
        assert torch.equal(weights[name], weight), name
    ids = torch.arange(2, 34)[None]
    with torch.inference_mode():
        assert torch.equal(made(ids).logits, own(ids).logits)


LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
# Wave lengths of the heads' frequencies are 6 to 5000: some are left, some divided, one between the two.
LLAMA3 |= {"rope_theta": 10_000.0, "factor": 8.0, "original_max_position_embeddings": 128}


def test_frequencies_are_divided_as_those_of_llama_3(tmp_path):
    """The divisors are those of Dubey et al. (2024), "The Llama 3 herd of models", as converters to GGUF write them."""
    source = tmp_path / "llama3"
    write_token_model(source, "llama")
    edit(source / "config.json", rope_parameters=LLAMA3)
    own = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).eval()
    base = LLAMA3["rope_theta"] ** -(np.arange(0, 8, 2) / 8)
    turns = LLAMA3["original_max_position_embeddings"] * base / (2 * np.pi)
    between = np.clip((turns - 1.0) / (4.0 - 1.0), 0, 1)
    divisors = 1 / ((1 - between) / 8.0 + between)
    assert ((divisors > 1) & (divisors < 8)).any()
    folder, plain = converted(tmp_path, more=with_frequencies(*divisors))
    made = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    frequencies = [each.model.rotary_emb.inv_freq for each in (made, own)]
    torch.testing.assert_close(*frequencies, rtol=1e-6, atol=0)
    ids = torch.arange(2, 300)[None]  # more than the model's context, behind which divisors could be others
    with torch.inference_mode():
        torch.testing.assert_close(made(ids).logits, own(ids).logits, rtol=0, atol=1e-4)
        undivided = AutoModelForCausalLM.from_pretrained(plain, dtype=torch.float32)(ids).logits
    assert (undivided - own(ids).logits).abs().max() > 0.1


def test_frequencies_divided_by_one_are_the_usual_ones(tmp_path):
    folder, _ = converted(tmp_path, more=with_frequencies(1, 1, 1, 1))
    rope = json.loads((folder / "config.json").read_text())["rope_parameters"]
    assert rope == {"rope_type": "default", "rope_theta": 10_000.0}


@pytest.mark.parametrize("size", [6, 32])  # another than the width divided by the number of heads
@pytest.mark.parametrize("layout", ["llama", "qwen3"])
def test_the_size_of_heads_is_the_one_that_the_file_says(tmp_path, monkeypatch, layout, size):
    kind, rows, shape = TOKEN_LAYOUTS[layout]
    monkeypatch.setitem(TOKEN_LAYOUTS, layout, (kind, rows, shape | {"head_dim": size}))

    def more(writer):
        if layout == "llama":
            writer.add_key_length(size)

    folder, source = converted(tmp_path, layout, more=more)
    made, own = (AutoModelForCausalLM.from_pretrained(each, dtype=torch.float32).eval() for each in (folder, source))
    ids = torch.arange(2, 34)[None]
    with torch.inference_mode():
        assert torch.equal(made(ids).logits, own(ids).logits)


def test_without_a_number_of_key_heads_there_are_as_many_as_heads(tmp_path, monkeypatch):
    kind, rows, shape = TOKEN_LAYOUTS["llama"]
    monkeypatch.setitem(TOKEN_LAYOUTS, "llama", (kind, rows, shape | {"num_key_value_heads": 2}))
    source = write_small_gguf(tmp_path / "small.gguf")
    path = tmp_path / "small.gguf"
    path.write_bytes(path.read_bytes().replace(b"llama.attention.head_count_kv", b"other.attention.head_count_kv"))
    write_folder(path, tmp_path)
    for name, weight in load_file(source / "model.safetensors").items():
        assert torch.equal(load_file(tmp_path / "model.safetensors")[name], weight), name


def test_tokens_are_those_of_the_model_that_it_came_from(tmp_path):
    folder, source = converted(tmp_path)
    made, own = (load_tokenizer(each / "tokenizer.json") for each in (folder, source))
    assert made.get_vocab() == own.get_vocab()
    text = f"{PROBE} the water of the river    flows past <s> 1987"
    assert made.encode(text).ids == own.encode(text).ids
    vocabularies = [vocabulary_of(each, "tokenizer.json") for each in (made, own)]
    assert [list(each.ids) for each in vocabularies] == [list(vocabularies[0].ids)] * 2
    assert [*vocabularies[0].texts] == [*vocabularies[1].texts]
    auto = AutoTokenizer.from_pretrained(folder)
    assert auto("the water's edge")["input_ids"] == own.encode("the water's edge").ids
    assert (auto.bos_token, auto.eos_token) == ("<s>", "</s>")


def test_rows_without_a_token_are_left_to_the_head_and_all_may_read_what_some_may(tmp_path):
    folder, _ = converted(tmp_path, "qwen2", "qwen2")
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1
    assert json.loads((folder / "config.json").read_text())["vocab_size"] == 312
    assert load_tokenizer(folder / "tokenizer.json").get_vocab_size() == 301


@pytest.mark.parametrize(
    ("division", "text", "words"),
    [
        ("gpt-2", "x1987", ["x", "1987"]),
        ("smollm", "in 1987 it's  12", ["in", "Ġ", *"1987", "Ġit", "'s", "ĠĠ", *"12"]),  # the space apart
        ("llama-bpe", "in 19871 IT'S", ["in", "Ġ", "198", "71", "ĠIT", "'S"]),
    ],
)
def test_texts_are_divided_as_the_file_says(division, text, words):
    assert [word for word, _ in PRE_TOKENIZERS[division]().pre_tokenize_str(text)] == words


def test_the_expression_of_qwen_is_that_of_transformers():
    split = json.loads(PRE_TOKENIZERS["qwen2"]().__getstate__())["pretokenizers"][0]
    assert split["pattern"] == {"Regex": PRETOKENIZE_REGEX}


@pytest.mark.parametrize(("said", "first"), [(True, (0,)), (False, ()), (None, ())])
def test_the_id_before_a_text_is_the_one_that_the_file_says(tmp_path, said, first):
    def more(writer):
        if said is not None:
            writer.add_add_bos_token(said)

    folder, _ = converted(tmp_path, more=more)
    path = folder / "tokenizer.json"
    assert ids_before_texts(load_tokenizer(path)) == first


@pytest.mark.parametrize(("stored", "most"), [("Q8_0", 0.01), ("Q4_0", 0.2), ("BF16", 0.01), ("F16", 0.001)])
def test_quantised_weights_are_near(tmp_path, stored, most):
    folder, source = converted(tmp_path, "qwen3", stored=GGMLQuantizationType[stored])
    made, own = (AutoModelForCausalLM.from_pretrained(each, dtype=torch.float32) for each in (folder, source))
    weights = dict(own.named_parameters())
    errors = {name: weight.sub(weights[name]).abs().max() for name, weight in made.named_parameters()}
    assert {name for name, error in errors.items() if error} == {
        f"model.layers.{i}.self_attn.{name}.weight" for i in range(2) for name in ("o_proj", "q_norm", "k_norm")
    }
    assert max(errors.values()) < most


def without_norm(name, values):
    return None if name.endswith("input_layernorm.weight") else values


def not_finite(name, values):
    return np.where(values == values.max(), np.nan, values) if "down_proj" in name else values


def with_frequencies(*divisors):
    return lambda writer: writer.add_tensor("rope_freqs.weight", np.array(divisors, np.float32))


def nameless(writer):
    writer.add_string("general.name", "small")
    writer.kv_data[0]["tokenizer.ggml.tokens"].value[5] = "!"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kind": "bert"},
            "tokenizer.ggml.model is 'bert', neither 'gpt2', byte-level byte-pair encoding, nor 'llama'",
        ),
        ({"division": "kimi-k2"}, "tokenizer.ggml.pre is 'kimi-k2', of which only gpt-2, phi-2, .*, gpt-4o are known"),
        ({"more": nameless}, "tokenizer.ggml.tokens: two tokens have one name"),
        ({"more": with_frequencies(1, 2)}, r"rope_freqs.weight has the shape \(2,\), and its keys make it \(4,\)"),
        (
            {"more": with_frequencies(1, 2, 0, 1)},
            "its tensor rope_freqs.weight holds a number that divides no frequency",
        ),
        ({"more": with_frequencies(1, 2, np.nan, 1)}, "its tensor rope_freqs.weight holds a number that divides no"),
        ({"layout": "qwen2", "more": with_frequencies(1, 2, 4, 8)}, "'rope_freqs.weight', unknown in a qwen2;"),
        ({"weights": without_norm}, "it lacks the tensor blk.0.attn_norm.weight and 1 more"),
        ({"weights": not_finite}, "its tensor model.layers.0.mlp.down_proj.weight holds NaN or infinity"),
    ],
)
def test_what_is_refused(tmp_path, options, message):
    with pytest.raises(UserError, match=message) as caught:
        converted(tmp_path, **options)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "small.gguf") in str(caught.value)


def test_another_architecture_is_refused_by_name(tmp_path):
    path = tmp_path / "small.gguf"
    write_small_gguf(path)
    path.write_bytes(path.read_bytes().replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0t5enc", 1))
    with pytest.raises(UserError, match=r"general\.architecture is 't5enc', and only llama, qwen2, qwen3, .* are"):
        write_folder(path, tmp_path)


@pytest.mark.parametrize("share", [0, 0.2, 0.99])
def test_a_file_that_is_cut_short_is_named_in_one_line(tmp_path, share):
    path = tmp_path / "small.gguf"
    write_small_gguf(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: round(share * len(whole))])
    with pytest.raises(UserError, match=r"small\.gguf: .*fetch it again") as caught:
        write_folder(path, tmp_path)
    assert "\n" not in str(caught.value)
