"""Byte-level models of the Auto classes, against transformers itself, and models that cannot be a truth."""

import pytest
import torch
from hostile_models import LLAMA
from hub_models import edit, write_gpt2
from transformers import LlamaConfig, LlamaForCausalLM

from oversmoothing.jobs import UserError
from oversmoothing.models.truths.load import load_causal_lm

CPU = torch.device("cpu")
SHAPE = {**LLAMA, "max_position_embeddings": 64}
TOKENS = torch.arange(0, 250, 7)[None]


def load(folder, byte_offset=3, bos=1, precision="float32"):
    return load_causal_lm(folder, "own", byte_offset, bos, CPU, precision)


@pytest.mark.parametrize(("byte_offset", "bos"), [(3, 1), (3, None), (0, None), (14, 269)])
def test_a_byte_offset_model(tmp_path, byte_offset, bos):
    torch.manual_seed(0)
    reference = LlamaForCausalLM(LlamaConfig(**SHAPE)).eval()
    reference.save_pretrained(tmp_path)
    model = load(tmp_path, byte_offset, bos)
    ids = TOKENS + byte_offset
    ids = ids if bos is None else torch.cat([torch.tensor([[bos]]), ids], dim=1)
    with torch.inference_mode():
        expected = reference(input_ids=ids).logits[:, -TOKENS.shape[1] :]
        post = model.hidden(TOKENS)[1]
        logits = model.logits(post)
        mass = model.special_mass(post)
    of_bytes = slice(byte_offset, byte_offset + 256)
    torch.testing.assert_close(logits, expected[..., of_bytes], atol=1e-5, rtol=0)
    torch.testing.assert_close(mass, 1 - expected.softmax(-1)[..., of_bytes].sum(-1), atol=1e-5, rtol=0)
    assert model.config.block == 64 - (bos is not None)


def test_ids_that_leave_no_room_for_bytes(tmp_path):
    LlamaForCausalLM(LlamaConfig(**SHAPE)).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="own: byte_offset 15 leaves no room for 256 bytes among its 270 ids"):
        load(tmp_path, 15)
    with pytest.raises(UserError, match="own: bos 270 is none of its 270 ids"):
        load(tmp_path, 3, 270)


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    write_gpt2(tmp_path, vocabulary=256, tokenizer=False)
    own = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    edit(tmp_path / "config.json", model_type="unheard", auto_map=own)
    (tmp_path / "own.py").write_text("raise SystemExit('ran')")
    with pytest.raises(UserError, match=r"own: .*no complete causal language model that needs no code"):
        load(tmp_path, 0, None)
