"""Each architecture in GGUF that is converted: its logits are those of the model that the file was made of.

Where transformers reads the file itself, its logits are the same, or it is known to read another model.
"""

from pathlib import Path

import pytest
import torch
from gguf_toys import TOYS, write_toy
from transformers import AutoModelForCausalLM
from transformers.integrations.ggml import GGUF_CONFIG_MAPPING
from transformers.integrations.gguf.gguf_config_mapping import GGUF_CONFIG_ARCHS

from oversmoothing.hub.gguf_architectures import ARCHITECTURES
from oversmoothing.jobs import UserError
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


# What transformers converts and is refused here.
REFUSED = {
    "deci": "transformers has no such model",
    "gemma4": "layers have their own widths, and embeddings of their own",
    "gpt-oss": "experts in MXFP4 with biases, scaled positions",
    "qwen35": "not tried: linear attention, a block that predicts further tokens",
    "qwen35moe": "not tried: as qwen35, with experts",
    "t5": "an encoder and a decoder",
    "umt5": "an encoder and a decoder",
}


def table():
    """Return the table of architectures in Markdown."""
    lines = ["| `general.architecture` | here | transformers itself |", "|:---|:---|:---|"]
    for name in ARCHITECTURES:
        ways = dict.fromkeys(toy.differs for toy in TOYS.values() if toy.architecture == name)
        same = ["the same"] if "" in ways else []
        other = [f"{each}{' in some' * bool(same)}" for each in ways if each]
        lines.append(f"| `{name}` | converted | {'; '.join(same + other)} |")
    lines += [f"| `{name}` | refused: {why} | lists it |" for name, why in REFUSED.items()]
    return "\n".join(lines)


def test_the_table_of_architectures_is_in_the_documentation():
    in_files = {"qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "mistral": "llama"}
    theirs = {in_files.get(name, name.replace("_", "-")) for name in {*GGUF_CONFIG_MAPPING, *GGUF_CONFIG_ARCHS}}
    assert theirs - {"general", "tokenizer"} <= set(ARCHITECTURES) | set(REFUSED)
    assert not set(ARCHITECTURES) & set(REFUSED)
    assert table() in Path("docs/source/tokens.md").read_text()


@pytest.mark.parametrize("name", ["ffn_up_exps.weight", "ffn_down_exps.weight", "ffn_norm.weight"])
def test_experts_without_a_part_are_refused(tmp_path, name):
    toy = TOYS["qwen3moe"]
    write_toy(tmp_path / "small.gguf", toy, without=f"blk.1.{name}")
    with pytest.raises(UserError, match=rf"it lacks the tensor blk\.1\.{name.removesuffix('.weight')}"):
        write_folder(tmp_path / "small.gguf", tmp_path)


def test_each_architecture_has_a_toy():
    assert {toy.architecture for toy in TOYS.values()} == set(ARCHITECTURES)
