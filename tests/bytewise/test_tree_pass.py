"""A small Llama behind the byte view: one masked pass over the tree, against a pass over each token sequence."""

from functools import cache

import numpy as np
import pytest
import torch
from enumeration import Judge, enumerate_text
from families import token_bytes, tokenizer_of
from transformers import LlamaConfig, LlamaForCausalLM

from oversmoothing.models.truths.byte_view import load_byte_view

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["smollm2", "llama3"])
def model(request, tmp_path_factory):
    """A folder with a Llama and its tokenizer, the judge, and rows of the Llama by tokens before, without a tree."""
    folder, tokenizer = tmp_path_factory.mktemp(request.param), tokenizer_of(request.param)
    tokenizer.save(str(folder / "tokenizer.json"))
    judge = Judge(tokenizer, token_bytes(tokenizer))
    shape = LlamaConfig(
        vocab_size=len(judge.texts),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        bos_token_id=1,
        eos_token_id=0,
        initializer_range=0.4,
    )
    torch.manual_seed(0)
    llama = LlamaForCausalLM(shape).eval()
    llama.save_pretrained(folder)

    @cache
    def logits(tokens):
        with torch.no_grad():
            return llama(torch.tensor([[1, *tokens]])).logits[0, -1].double()

    return folder, judge, logits


@pytest.mark.parametrize("temperature", [1.0, 0.8])
@pytest.mark.parametrize("text", ["a  \n\nthe 12", "they're é", "😀 x"])
def test_equal_enumeration(model, text, temperature):
    folder, judge, logits = model
    expected = enumerate_text(
        judge, lambda tokens: (logits(tokens) / temperature).log_softmax(0).numpy(), text.encode()
    )
    view = load_byte_view(folder, "llama", {"bos": 1, "temperature": temperature}, CPU, "float32")
    found = view.next_bytes(text.encode(), 0)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=2e-4, atol=2e-6)
    np.testing.assert_allclose(found.dropped, expected.dropped, atol=1e-5)
    later = view.next_bytes(text.encode(), 3)
    np.testing.assert_allclose(later.probabilities, found.probabilities[3:], rtol=2e-4, atol=2e-6)
