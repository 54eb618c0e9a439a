"""Models whose JSON is wrong in places drawn from a seed, and what comes of their use."""

import json
import random
import shutil

import torch
from hub_models import write_evabyte, write_gpt2, write_neox, write_tokenizer
from odd_json import mutated
from transformers import LlamaConfig, LlamaForCausalLM

from oversmoothing.jobs import UserError
from oversmoothing.models.truths.evabyte import load_evabyte

LLAMA = {"vocab_size": 270, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
LLAMA |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}


def write_models(folder):
    """Write a small model of each layout; return their folder."""
    write_gpt2(folder / "gpt2")
    write_neox(folder / "neox")
    write_evabyte(folder / "evabyte", shards=2)
    LlamaForCausalLM(LlamaConfig(**LLAMA)).save_pretrained(folder / "llama", max_shard_size="20KB")
    write_tokenizer(folder / "llama", ["some text"])
    return folder


@torch.inference_mode()
def refused(models, folder, seed, uses, named=()):
    """Count how many ways to use a damaged model end in one line that names it; any other end is a traceback."""
    draw = random.Random(seed)
    cases = sorted((path.parent.name, path.name) for path in models.glob("*/*.json"))
    model, file = draw.choice(cases)
    file = draw.choice([file, "config.json"])
    shutil.copytree(models / model, folder, symlinks=True)
    value = mutated(draw, json.loads((folder / file).read_text()), draw.choice([1, 1, 2, 4]))
    (folder / file).write_text(json.dumps(value))
    messages = []
    for use in [_is_evabyte] if model == "evabyte" else uses:
        try:
            use(folder)
        except UserError as error:
            messages.append(str(error))
    for message in messages:
        assert "\n" not in message, (seed, model, file)
        assert any(name in message for name in (str(folder), "own: ", *named)), (seed, message)
    return len(messages)


def _is_evabyte(folder):
    model = load_evabyte(folder, "own", torch.device("cpu"), "float32")
    model.special_mass(model.hidden(torch.arange(10)[None])[1])
