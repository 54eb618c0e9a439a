"""Models over bytes and the tokens of a tokenizer, against transformers, and checkpoints that cannot be one."""

import json

import numpy as np
import pytest
import torch
from hostile_models import LLAMA
from hub_models import TOKEN_LAYOUTS, check_remembering, vocabulary, write_bpe, write_token_model
from small_tokenizers import byte_tokens
from tokenizers.processors import TemplateProcessing
from torch.nn import functional as F
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from oversmoothing.data.tokens.vocabulary import Vocabulary, as_ids, ids_before_texts, load_tokenizer
from oversmoothing.hub.client import MODEL_FILES, take_stock
from oversmoothing.jobs import UserError
from oversmoothing.models.truths.load import first_ids, load_causal_lm, load_token_lm, load_truth

CPU = torch.device("cpu")
BEGIN, END, LAST = 0, 1, 300  # ids of `write_bpe`: special, special, and an added token that is not special


@pytest.fixture(scope="module", params=[*sorted(TOKEN_LAYOUTS), "cohere", "granite", "phi", "gemma2"])
def layout(request, tmp_path_factory):
    """Folder of a checkpoint in each of the layouts; the last four have a factor of the logits, a bias, or a cap."""
    folder = tmp_path_factory.mktemp(request.param)
    write_token_model(folder, request.param)
    return folder


def load(folder, bos=None, precision="float32"):
    return load_token_lm(folder, "own", vocabulary(folder), bos, CPU, precision)


def some_tokens(model, time=20, texts=2):
    return torch.from_numpy(np.random.default_rng(0).integers(0, model.config.vocabulary, (texts, time)))


def reference(folder, ids):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return model(input_ids=ids).logits


@torch.inference_mode()
@pytest.mark.parametrize("bos", [None, BEGIN, [END, BEGIN]])
def test_logits_and_special_mass_are_those_of_transformers(layout, bos):
    model = load(layout, bos)
    tokens = some_tokens(model)
    ids = torch.from_numpy(vocabulary(layout).ids).long()
    assert len(ids) == 299  # of 301 ids, two are special
    before = torch.tensor(as_ids(bos), dtype=torch.int64).expand(len(tokens), -1)
    given = torch.cat([before, ids[tokens]], dim=1)
    expected = reference(layout, given)[:, -20:]
    assert expected.std() > 0.1
    pre, post = model.hidden(tokens)
    assert pre is post
    torch.testing.assert_close(model.logits(post), expected[..., ids], atol=1e-4, rtol=0)
    mass = 1 - expected.double().softmax(-1)[..., ids].sum(-1)
    assert mass.max() > 0.005
    torch.testing.assert_close(model.special_mass(post).double(), mass, atol=1e-5, rtol=0)
    rows = expected.shape[-1]
    assert len(model.special[0]) == rows - 299  # the rows that pad a head count as special
    assert model.config.vocabulary == len(model.head.weight) == 299
    check_remembering(model, some_tokens(model, 24, 3))


@torch.inference_mode()
@pytest.mark.parametrize(("byte_offset", "bos"), [(3, 1), (14, None)])
def test_a_model_over_bytes(tmp_path, byte_offset, bos):
    shape = {**LLAMA, "max_position_embeddings": 64}
    LlamaForCausalLM(LlamaConfig(**shape)).save_pretrained(tmp_path)
    model = load_causal_lm(tmp_path, "own", byte_offset, bos, CPU, "float32")
    tokens, of_bytes = some_tokens(model), slice(byte_offset, byte_offset + 256)
    ids = tokens + byte_offset
    expected = reference(tmp_path, ids if bos is None else F.pad(ids, (1, 0), value=bos))[:, -20:]
    post = model.hidden(tokens)[1]
    torch.testing.assert_close(model.logits(post), expected[..., of_bytes], atol=1e-5, rtol=0)
    mass = 1 - expected.softmax(-1)[..., of_bytes].sum(-1)
    torch.testing.assert_close(model.special_mass(post), mass, atol=1e-5, rtol=0)
    assert model.config.block == 64 - (bos is not None)
    with pytest.raises(UserError, match="own: byte_offset 15 leaves no room for 256 bytes among its 270 ids"):
        load_causal_lm(tmp_path, "own", 15, bos, CPU, "float32")


@torch.inference_mode()
@pytest.mark.parametrize("stored", [torch.float32, torch.float16])
def test_the_head_is_as_stored_even_where_the_trunk_is_in_bf16(tmp_path, stored):
    plain = write_token_model(tmp_path, "neox", dtype=stored)
    ids = torch.from_numpy(vocabulary(tmp_path).ids).long()
    weight = plain.get_output_embeddings().weight[ids]
    model = load(tmp_path, precision="bf16")
    assert torch.equal(model.head.weight, weight.float())
    assert torch.equal(model.head.weight.to(stored), weight)
    assert model.trunk.layers[0].mlp.dense_h_to_4h.weight.dtype == torch.bfloat16


@pytest.mark.parametrize(("kind", "factor"), [("cohere", 0.3), ("granite", 1 / 0.3), ("hyperclovax", 0.7), ("phi", 1)])
def test_a_factor_of_the_logits_is_part_of_the_head_and_a_bias_stays(tmp_path, kind, factor):
    plain = write_token_model(tmp_path, kind).get_output_embeddings()
    ids = torch.from_numpy(vocabulary(tmp_path).ids).long()
    head = load(tmp_path).head
    assert torch.equal(head.weight, factor * plain.weight[ids])
    assert (head.bias is None) == (kind != "phi")
    assert head.bias is None or torch.equal(head.bias, plain.bias[ids])


def test_several_ids_before_texts_and_those_behind(tmp_path):
    write_bpe(tmp_path)
    tokenizer = load_tokenizer(tmp_path / "tokenizer.json")
    special = [("<s>", BEGIN), ("</s>", END)]
    for template, expected in (("$A </s>", ()), ("</s> $A <s>", (END,)), ("<s> </s> $A", (BEGIN, END))):
        tokenizer.post_processor = TemplateProcessing(single=template, special_tokens=special)
        assert ids_before_texts(tokenizer) == expected
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert first_ids(tmp_path, "auto") == (BEGIN, END)


GLM, GEMMA = ["[gMASK]", "<sop>"], ["<bos>"]


@pytest.mark.parametrize(
    ("names", "template", "said", "told"),
    [
        (
            GLM,
            "",
            {},
            "with [gMASK] and <sop> in their vocabulary begin every text so, but it puts no id there; --bos",
        ),
        (GLM, "[gMASK] ", {}, "but it puts the id 257 there; --bos 257,258, or `bos: [257, 258]` in a config, would"),
        (GLM, "", {"add_bos_token": False}, "--bos 257,258,"),
        (GLM, "[gMASK] <sop> ", {}, ""),
        (GEMMA, "", {}, "with <bos> in their vocabulary begin every text so, but it puts no id there; --bos 257, or"),
        (GEMMA, "", {"add_bos_token": False}, ""),
        (GEMMA, "<bos> ", {}, ""),
        (["<s>"], "", {}, ""),
    ],
)
def test_names_of_ids_that_begin_texts_and_are_not_put_are_told(tmp_path, caplog, names, template, said, told):
    """A GLM without its two ids had three times the perplexity, without a word."""
    own = byte_tokens()
    own.add_special_tokens(names)
    ids = [own.token_to_id(name) for name in names]
    own.post_processor = TemplateProcessing(single=f"{template}$A", special_tokens=[*zip(names, ids, strict=True)])
    own.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    assert first_ids(tmp_path, "auto") == tuple(ids[: template.count(" ")])
    assert told in caplog.text
    assert bool(told) == bool(caplog.text)
    assert first_ids(tmp_path, 7) == (7,)


def test_a_head_with_fewer_rows_than_the_tokenizer_has_ids(tmp_path):
    write_token_model(tmp_path, "llama", rows=LAST)
    with pytest.raises(UserError, match=f"own: the largest id of its tokens is {LAST}, but its head has only 300 rows"):
        load(tmp_path)
    write_token_model(tmp_path, "llama", rows=LAST + 1)
    with pytest.raises(UserError, match="own: bos 301 is none of its 301 ids"):
        load(tmp_path, [0, 301])


def test_a_truth_reads_what_the_study_reads(tmp_path):
    write_token_model(tmp_path / "gpt2", "gpt2")
    own, manifest = vocabulary(tmp_path / "gpt2"), tmp_path / "own.json"
    manifest.write_text(json.dumps(take_stock(tmp_path / "gpt2", MODEL_FILES)))
    of_tokens, of_bytes = ({"layout": "tokens", "bos": "auto"}, {"layout": "causal_lm", "bos": None, "byte_offset": 0})
    assert load_truth(manifest, "own", of_tokens, CPU, "float32", own).config.vocabulary == 299
    assert load_truth(manifest, "own", of_bytes, CPU, "float32").config.vocabulary == 256
    other = Vocabulary(own.ids, [*own.texts[:270], b"another", *own.texts[271:]])
    with pytest.raises(UserError, match=r"own: its tokenizer is not that .*: of token 270, id 272 is b'another'"):
        load_truth(manifest, "own", of_tokens, CPU, "float32", other)
