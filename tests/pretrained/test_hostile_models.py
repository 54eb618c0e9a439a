"""Models whose JSON is wrong in places drawn from a seed: each is read, or refused in one line."""

import json
import random
import shutil

import pytest
import torch
from hub_models import write_evabyte, write_gpt2, write_neox, write_tokenizer
from odd_json import mutated
from transformers import LlamaConfig, LlamaForCausalLM

from oversmoothing.jobs import UserError
from oversmoothing.pretrained.auto import load_language_model
from oversmoothing.quality.perplexity import read
from oversmoothing.truths.evabyte import load_evabyte
from oversmoothing.truths.load import load_causal_lm

CPU = torch.device("cpu")
BYTES = torch.arange(10)[None]
LLAMA = {"vocab_size": 270, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
LLAMA |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_gpt2(folder / "gpt2")
    write_neox(folder / "neox")
    write_evabyte(folder / "evabyte", shards=2)
    LlamaForCausalLM(LlamaConfig(**LLAMA)).save_pretrained(folder / "llama", max_shard_size="20KB")
    write_tokenizer(folder / "llama", ["some text"])
    return folder


def reads_texts(folder):
    read(load_language_model(folder), ["some text", "x"], 2)


def is_a_truth(folder):
    load_causal_lm(folder, "own", 0, None, CPU, "float32").hidden(BYTES)


def is_evabyte(folder):
    model = load_evabyte(folder, "own", CPU, "float32")
    model.special_mass(model.hidden(BYTES)[1])


@torch.inference_mode()
def refused(models, folder, seed):
    """Count how many ways to use a damaged model end in one line; any other end is a traceback."""
    draw = random.Random(seed)
    cases = sorted((path.parent.name, path.name) for path in models.glob("*/*.json"))
    model, file = draw.choice(cases)
    file = draw.choice([file, "config.json"])
    shutil.copytree(models / model, folder, symlinks=True)
    value = mutated(draw, json.loads((folder / file).read_text()), draw.choice([1, 1, 2, 4]))
    (folder / file).write_text(json.dumps(value))
    messages = []
    for use in [is_evabyte] if model == "evabyte" else [reads_texts, is_a_truth]:
        try:
            use(folder)
        except UserError as error:
            messages.append(str(error))
    for message in messages:
        assert "\n" not in message, (seed, model, file)
        assert any(name in message for name in (str(folder), "own: ", "quality.language_model: ")), (seed, message)
    return len(messages)


def test_hostile_models(models, tmp_path):
    counts = [refused(models, tmp_path / str(seed), seed) for seed in range(60)]
    assert 20 < sum(map(bool, counts)) < 55


@pytest.mark.slow
def test_many_hostile_models(models, tmp_path):
    for seed in range(1000, 2000):
        refused(models, tmp_path / "case", seed)
        shutil.rmtree(tmp_path / "case")
