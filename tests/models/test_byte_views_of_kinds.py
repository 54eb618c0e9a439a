"""Byte views of several kinds of models: those that take a mask of a tree, and those that are read branch by branch."""

import logging
import re

import numpy as np
import pytest
import torch
from small_tokenizers import byte_tokens
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    GPT2Config,
    MambaConfig,
    MistralConfig,
    Qwen2Config,
)

from oversmoothing.bytewise.covers import covers
from oversmoothing.bytewise.reading import read_spelling
from oversmoothing.jobs import UserError
from oversmoothing.models.truths import byte_view
from oversmoothing.models.truths.byte_view import load_byte_view

CPU = torch.device("cpu")
MERGES = [("t", "h"), ("th", "e"), ("the", "y"), ("\u0120", "the"), ("r", "e"), ("1", "2"), ("\u010a", "\u010a")]
TEXT = "they're  12\n\nthe é"
HEADS = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "hidden_size": 16}
HEADS |= {"intermediate_size": 32, "max_position_embeddings": 64, "bos_token_id": 0}
KINDS = {
    "gpt2": (GPT2Config(n_layer=2, n_head=2, n_embd=16, n_positions=64, bos_token_id=0), True),
    "qwen2": (Qwen2Config(**HEADS), True),
    "window": (MistralConfig(**HEADS, sliding_window=4), True),
    "bloom": (BloomConfig(n_layer=2, n_head=2, hidden_size=16, bos_token_id=0), False),
    "mamba": (MambaConfig(num_hidden_layers=2, hidden_size=16, state_size=4, bos_token_id=0), False),
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """The tokenizer of all, which is read once."""
    folder = tmp_path_factory.mktemp("tokens")
    own = byte_tokens(merges=MERGES)
    own.save(str(folder / "tokenizer.json"))
    spelling = read_spelling(folder / "tokenizer.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_view, "read_spelling", lambda path: spelling)
        yield own


@pytest.fixture(params=KINDS, scope="module")
def view(request, tmp_path_factory, tokenizer):
    """A byte view of a small model, the model, and whether it takes a mask of a tree."""
    (config, masked), tmp_path = KINDS[request.param], tmp_path_factory.mktemp(request.param)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    config.vocab_size = tokenizer.get_vocab_size()
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)
    model.save_pretrained(tmp_path)
    bos = {"qwen2": [3, 1, 2], "window": [2, 0], "mamba": [1, 0]}.get(request.param, "auto")
    return load_byte_view(tmp_path, "view", {"bos": bos, "temperature": 0.8}, CPU, "float32"), model, masked


def test_rows_are_those_of_the_model_behind_each_sequence(view, caplog):
    view, model, masked = view
    assert view.masked == masked
    tree = covers(view.spelling, TEXT.encode(), 0)[0]
    with caplog.at_level(logging.INFO):
        rows = view.predict(tree)
    if not masked:
        read, nodes = map(int, re.search(r"branch by branch, (\d+) tokens are read for (\d+)", caplog.text).groups())
        assert read > nodes
    deepest = int(tree.depths.max())
    assert deepest > 6
    for node in range(len(tree.tokens)):
        path, at = [], node
        while at:
            path.append(int(tree.tokens[at]))
            at = int(tree.parents[at])
        with torch.no_grad():
            logits = model(torch.tensor([[*view.model.bos, *path[::-1]]])).logits[0, -1]
        expected = (logits / 0.8).log_softmax(0)[view.model.table].numpy()
        np.testing.assert_allclose(rows[node][view.model.table.numpy()], expected, atol=2e-4)


def test_mistakes_are_named_and_a_text_that_begins_inside_a_character_begins_behind_it(view):
    view, _, _ = view
    whole, cut = view.next_bytes("é then".encode()[2:], 3), view.next_bytes("é then".encode()[1:], 4)
    np.testing.assert_array_equal(whole.probabilities, cut.probabilities)
    with pytest.raises(UserError, match=r"view: a text .*UTF-8"):
        view.next_bytes(b"ok \xff no", 2)
    if view.context < 100:
        with pytest.raises(UserError, match=r"view: a text of \d+ tokens is longer than its context, \d+"):
            view.next_bytes(b"q7" * 100, 150)
