"""Perplexity and features against one text at a time, and models that cannot be used."""

import math
import shutil

import numpy as np
import pytest
import torch
from hub_models import write_gpt2
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_language_model
from studies.sample_quality.perplexity import KEY, read, tokens_of

TEXTS = ["The 5th sentence", "number " * 9, "is it", "A \u00e9 \u20ac", "The 17th sentence says 1346 is a number.\n"]


def test_perplexity_is_exp_of_the_mean_loss_of_transformers(language_model, folder):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    trunk = AutoModel.from_pretrained(folder)
    readings = read(language_model, TEXTS, batch=3)
    for text, perplexity, features in zip(TEXTS, readings.perplexity, readings.features, strict=True):
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            loss = model(**inputs, labels=inputs["input_ids"]).loss
            last = trunk(**inputs).last_hidden_state[0, -1]
        assert perplexity == pytest.approx(math.exp(loss), rel=1e-5)
        np.testing.assert_allclose(features, last, atol=1e-5)


def test_padding_changes_nothing(language_model):
    alone, together = read(language_model, TEXTS, 1), read(language_model, TEXTS, 2)
    np.testing.assert_allclose(together.perplexity, alone.perplexity, rtol=1e-5)
    np.testing.assert_allclose(together.features, alone.features, atol=1e-5)


def test_texts_too_short_to_predict(language_model):
    readings = read(language_model, ["", "e", "The"], 2)
    assert np.isnan(readings.perplexity[:2]).all()
    assert np.isnan(readings.features[0]).all()
    assert np.isfinite(readings.features[1:]).all()
    none = read(language_model, ["", ""], 2)
    assert np.isnan(none.perplexity).all()
    assert none.features.shape == (2, 16)


def test_texts_longer_than_the_context_are_refused(language_model):
    assert language_model.context == 64
    with pytest.raises(UserError, match=r"quality\.language_model: it reads at most 64 tokens, but a sample has \d+"):
        read(language_model, ["xyzw" * 60], 1)


def test_a_folder_that_is_no_whole_model_is_refused(folder, tmp_path, monkeypatch):
    """transformers would fill missing weights at random."""
    shutil.copytree(folder, tmp_path / "part", ignore=shutil.ignore_patterns("tokenizer.json"))
    with pytest.raises(UserError, match=r"quality\.language_model: .*part: no complete causal language model \("):
        load_language_model(tmp_path / "part", key=KEY)
    holes = shutil.copytree(folder, tmp_path / "holes")
    tensors = load_file(holes / "model.safetensors")
    del tensors[next(name for name in tensors if "h.0" in name)]
    save_file(tensors, holes / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"quality\.language_model: .*its weights lack .*h\.0"):
        load_language_model(holes, key=KEY)
    monkeypatch.setattr("transformers.GPT2LMHeadModel.get_output_embeddings", lambda self: None)
    with pytest.raises(UserError, match=r"quality\.language_model: .*no head that maps a hidden state"):
        load_language_model(folder, key=KEY)


def test_weights_that_are_no_numbers_are_named_and_not_the_samples(folder):
    loaded = load_language_model(folder, key=KEY)
    with torch.no_grad():
        loaded.model.transformer.wte.weight.fill_(torch.nan)
    with pytest.raises(UserError, match="its logits are not all finite numbers"):
        read(loaded, ["some text here"], 2)


def test_text_that_spells_a_mark_is_text(language_model):
    tokenizer = language_model.tokenizer
    assert tokenizer.eos_token_id not in tokens_of(tokenizer, "x<|endoftext|>y")


def test_bf16_rounds_the_blocks_and_not_the_logits(language_model):
    """With its head in bf16, logits near 100 would be off by a quarter of a nat."""
    seen = []
    hook = language_model.model.get_output_embeddings().register_forward_hook(
        lambda _, inputs, output: seen.append((inputs[0].dtype, output.dtype))
    )
    exact, rounded = read(language_model, TEXTS, 3), read(language_model, TEXTS, 3, "bf16")
    hook.remove()
    assert {dtype for _, dtype in seen} == {torch.float32}
    assert (rounded.perplexity != exact.perplexity).any()
    np.testing.assert_allclose(rounded.perplexity, exact.perplexity, rtol=0.02)
    np.testing.assert_allclose(rounded.features, exact.features, atol=0.05)


def test_a_tokenizer_with_more_tokens_than_the_head(tmp_path):
    write_gpt2(tmp_path / "whole")
    write_gpt2(tmp_path / "small", vocabulary=257, tokenizer=False)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tmp_path / "small" / name, tmp_path / "whole" / name)
    model = load_language_model(tmp_path / "whole")
    text = next(text for text, token in model.tokenizer.get_vocab().items() if token > 256)
    with pytest.raises(UserError, match=r"quality\.language_model: its tokenizer has token \d+, but its head 257 rows"):
        read(model, [text.replace("\u0120", " ")], 1)
