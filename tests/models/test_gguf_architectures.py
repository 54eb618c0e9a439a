"""Each architecture in GGUF that is converted: its logits are those of the model that the file was made of.

Where transformers reads the file itself, its logits are the same, or it is known to read another model.
"""

import pytest
import torch
from gguf_toys import TOYS, write_toy
from transformers import AutoModelForCausalLM

from oversmoothing.hub.gguf_architectures import ARCHITECTURES
from oversmoothing.models.pretrained.from_gguf import write_folder

IDS = torch.arange(2, 50)[None]


def logits(model):
    with torch.inference_mode():
        return model.eval()(IDS).logits


@pytest.mark.parametrize("name", TOYS)
def test_logits_are_those_of_the_model_that_a_file_was_made_of(tmp_path, name):
    toy = TOYS[name]
    own = logits(write_toy(tmp_path / "small.gguf", toy))
    (folder := tmp_path / "made").mkdir()
    write_folder(tmp_path / "small.gguf", folder)
    made = logits(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32))
    torch.testing.assert_close(made, own, rtol=1e-5, atol=2e-5)
    assert own.std() > 0.01
    try:
        theirs = logits(AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="small.gguf", dtype=torch.float32))
    except (ValueError, RuntimeError, KeyError, AssertionError):
        assert toy.differs
        return
    assert bool(toy.differs) == (theirs.shape != own.shape or (theirs - own).abs().max() > 1e-3)


def test_each_architecture_has_a_toy():
    assert {toy.architecture for toy in TOYS.values()} == set(ARCHITECTURES)
