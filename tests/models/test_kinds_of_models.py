"""Kinds of models that need care, against transformers: parts of others, odd heads, and those without a cache."""

import pytest
import torch
from hub_models import ODD_LAYOUTS, SHAPE, WRAPPED, edit, vocabulary, write_bpe, write_token_model, write_wrapped
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, LlamaForCausalLM

from oversmoothing.jobs import UserError
from oversmoothing.models.truths.load import check_token_lm, load_token_lm

CPU = torch.device("cpu")
TOKENS = torch.arange(0, 290, 7)[None]  # 42
WITHOUT_CACHE = ["mamba", "minimax", "rwkv"]  # or with one that texts share
BEYOND = ["hyperclovax", "llama4", "gemma3n", "phi3", "recurrent_gemma", *WITHOUT_CACHE]


def load(folder, precision="float32"):
    return load_token_lm(folder, "own", vocabulary(folder), None, CPU, precision)


def change(folder, tensors):
    path = folder / "model.safetensors"
    save_file(load_file(path) | tensors, path, {"format": "pt"})


@torch.inference_mode()
@pytest.mark.parametrize("kind", [*BEYOND, *WRAPPED])
def test_logits_and_sizes_are_those_of_transformers(tmp_path, kind):
    reference = (write_wrapped if kind in WRAPPED else write_token_model)(tmp_path, kind)
    own = vocabulary(tmp_path)
    assert check_token_lm(tmp_path, "own", own).context in (64, 2**63 - 1)  # some have no limit
    model, ids = load(tmp_path), torch.from_numpy(own.ids).long()
    expected = reference(input_ids=ids[TOKENS]).logits[..., ids]
    assert expected.std() > 0.05
    torch.testing.assert_close(model.logits(model.hidden(TOKENS)[1]), expected, atol=1e-5, rtol=0)
    assert (model.config.layers, model.config.width) == (2, 16)  # a wrapper's images have 3
    if kind in WITHOUT_CACHE:
        with pytest.raises(UserError, match=r"own: .* it can be measured on texts, but not sampled from") as caught:
            model.cache(20)
        assert "\n" not in str(caught.value)
    else:
        model.cache(20)


def test_positions_that_change_with_the_length_of_a_text(tmp_path):
    write_token_model(tmp_path, "phi3")
    limit = ODD_LAYOUTS["phi3"][2]["original_max_position_embeddings"]
    model = load(tmp_path, "bf16")  # whose rounding hides the difference
    model.cache(limit)
    with pytest.raises(UserError, match=rf"own: its logits of 8 tokens change once the text has {limit + 1} \(by "):
        model.cache(limit + 1)


def test_a_head_is_tied_if_it_has_the_values_of_the_embedding(tmp_path):
    write_token_model(tmp_path, "qwen2")
    assert load(tmp_path).tied
    embedding = load_file(tmp_path / "model.safetensors")["model.embed_tokens.weight"]
    change(tmp_path, {"lm_head.weight": embedding.clone()})
    edit(tmp_path / "config.json", tie_word_embeddings=False)
    assert load(tmp_path).tied
    change(tmp_path, {"lm_head.weight": 2 * embedding})
    edit(tmp_path / "config.json", tie_word_embeddings=True)
    model = load(tmp_path)
    assert not model.tied
    ids = torch.from_numpy(vocabulary(tmp_path).ids).long()
    assert torch.equal(model.head.weight, 2 * embedding[ids])


@torch.inference_mode()
@pytest.mark.parametrize("where", ["bias", "logits"])
def test_minus_infinity_at_ids_that_are_no_tokens(tmp_path, monkeypatch, where):
    reference = write_token_model(tmp_path, {"bias": "phi", "logits": "llama"}[where], rows=304)
    padding = torch.zeros(304).index_fill(0, torch.tensor([1, 301, 302, 303]), -torch.inf)  # `</s>`, and rows behind
    if where == "bias":
        change(tmp_path, {"lm_head.bias": reference.lm_head.bias + padding})
        reference.lm_head.bias += padding
    else:
        plain = LlamaForCausalLM.forward

        def padded(*inputs, **more):
            output = plain(*inputs, **more)
            output.logits = output.logits + padding
            return output

        monkeypatch.setattr(LlamaForCausalLM, "forward", padded)
    model, ids = load(tmp_path), torch.from_numpy(vocabulary(tmp_path).ids).long()
    expected = reference(input_ids=ids[TOKENS]).logits
    assert expected.isinf().any()
    post = model.hidden(TOKENS)[1]
    torch.testing.assert_close(model.logits(post), expected[..., ids], atol=1e-5, rtol=0)
    mass = 1 - expected.double().softmax(-1)[..., ids].sum(-1)
    assert mass.max() > 1e-4  # of `<s>`
    torch.testing.assert_close(model.special_mass(post).double(), mass, atol=1e-6, rtol=0)
    padding[ids[3]] = -torch.inf
    if where == "logits":
        with pytest.raises(UserError, match=f"own: it gives id {ids[3]} no probability, but its tokenizer writes it"):
            load(tmp_path)


def test_layers_that_predict_further_tokens(tmp_path):
    write_token_model(tmp_path, "qwen2")
    change(tmp_path, {"model.layers.2.shared_head.norm.weight": torch.ones(16)})
    with pytest.raises(UserError, match=r"it makes 2 layers, but the files have model\.layers\.2\.shared_head"):
        load(tmp_path)
    edit(tmp_path / "config.json", num_nextn_predict_layers=1)
    load(tmp_path)


def test_a_model_that_reads_what_follows(tmp_path):
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "bert-generation", vocab_size=301, intermediate_size=24, **SHAPE | {"pad_token_id": 0}
    )
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    write_bpe(tmp_path)
    with pytest.raises(UserError, match=r"own: its logits depend on tokens that follow .* no causal language model"):
        load(tmp_path)
