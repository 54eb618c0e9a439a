"""A byte-level model through the path of tokens, with 256 tokens of which token b is byte b, measures as over bytes."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from small_tokenizers import byte_tokens
from step_jobs import job as step_job
from step_jobs import write_splits
from tokenizers import normalizers
from transformers import AutoConfig, AutoModelForCausalLM

import draw_windows as windows_script
import head_logits as head_script
import logits as logits_script
import measure as measure_script
import sample as sample_script
import score as score_script
from oversmoothing.data.tokens.vocabulary import load_tokenizer, vocabulary_of
from oversmoothing.hub.client import MODEL_FILES, take_stock
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.logit_files import logit_groups, logits_column
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import save_model
from oversmoothing.scores.catalogue.metrics import OF_DISTRIBUTIONS
from oversmoothing.store.parquet import read_table, write_table

COUNT, PROMPT, SCORED, DELTA = 4, 6, 10, 0.2231
SAMPLED = [{"name": "pure"}, {"name": "greedy"}, {"name": "top-k", "k": 5}]
DECODINGS = [*SAMPLED, {"name": "top-p", "p": 0.9}, {"name": "temperature", "temperature": 0.8}]
SHAPES = {"model": {"layers": 1, "rank": 12, "width": 16}, "truth": {"layers": 2, "rank": None, "width": 24}}
PATHS = ("bytes", "tokens")
ROUNDING = {"atol": 2e-5, "rtol": 1e-6}  # of logits up to 20 in float32, summed in an order that depends on the machine
TEXT = "".join(f"Sentence {n} of the text, café {n * 7}, is here.\n" for n in range(120)).encode()


def job(inputs, outputs, model="model", settings=None, **params):
    return step_job(inputs, outputs, settings, params, model=model)


def settings(path):
    states = {"states": "float32"} if path == "tokens" else {}
    return {"batch": 2, "precision": "float32", "threads": 1} | states


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Return a folder with a tokenizer, its tokens and the windows of a text, cut in bytes and in tokens."""
    folder = tmp_path_factory.mktemp("texts")
    byte_tokens().save(str(folder / "tokenizer.json"))
    vocabulary = vocabulary_of(load_tokenizer(folder / "tokenizer.json"), folder)
    write_table(folder / "vocabulary.parquet", vocabulary.table(), {})
    text = write_splits(folder, evaluation=TEXT)
    tokens = {"tokenizer": folder / "tokenizer.json", "vocabulary": folder / "vocabulary.parquet"}
    drawn = {"count": COUNT, "prompt": PROMPT, "scored": SCORED, "seed": 7}
    for path, more in zip(PATHS, ({key: [] for key in tokens}, tokens), strict=True):
        windows_script.main(job(text | more, folder / f"{path}.windows.parquet", settings=drawn))
    return folder


@pytest.fixture(scope="module")
def measured(texts):
    """Return the folder with logits, scores, TBAT, truncated heads and samples of a GPT and a truth, on both paths."""
    for name, shape in SHAPES.items():
        config = GPTConfig(heads=2, block=24, **shape)
        model = GPT(config, 3).eval()
        with torch.no_grad():
            model.head.weight *= 80  # peaks, as of a trained model
        save_model(texts / f"{name}.safetensors", config, model.state_dict(), {})
    for path in PATHS:
        folder = texts / path
        logits = {name: folder / f"{name}.parquet" for name in SHAPES}
        for name in SHAPES:
            inputs = {"windows": texts / f"{path}.windows.parquet", "weights": texts / f"{name}.safetensors"}
            outputs = {"logits": logits[name], "hidden": folder / f"{name}.hidden.parquet"}
            logits_script.main(job(inputs, outputs, name, settings=settings(path)))
        of_model = {"weights": texts / "model.safetensors", "hidden": folder / "model.hidden.parquet"}
        svd = {"logits": folder / "svd.parquet"}
        head_script.main(job(of_model, svd, "svd", rank=2, states=settings(path).get("states")))
        for name, own in (logits | {"svd": svd["logits"]}).items():
            score(folder / f"scores/{name}", own, logits)
        for condition in ("full", "tangent"):
            measure_tbat(folder / f"{condition}.parquet", logits["model"], condition, **of_model)
        inputs = {"windows": texts / f"{path}.windows.parquet", "weights": texts / "model.safetensors"}
        inputs["vocabulary"] = [] if path == "bytes" else texts / "vocabulary.parquet"
        sampled = {**settings(path), "seed": 1, "decodings": SAMPLED}
        outputs = {entry["name"]: str(folder / f"{entry['name']}.samples.parquet") for entry in SAMPLED}
        sample_script.main(job(inputs, list(outputs.values()), settings=sampled, rank=None))
    return texts


def score(folder, model, truths):
    outputs = {metric: folder / f"{metric}.parquet" for metric in OF_DISTRIBUTIONS}
    params = {"tau": 0.05, "decodings": DECODINGS, "truths": list(truths)}
    score_script.main(job({"model": model, "truths": list(truths.values())}, outputs, settings=params))


def measure_tbat(path, logits, condition, weights, hidden):
    inputs = {"weights": weights, "logits": logits} | ({"hidden": hidden} if condition == "tangent" else {})
    limits = {"delta": DELTA, "mass_tolerance": 1e-9, "per_window": None, "windows": None}
    asked = {**limits, "condition": condition, "decodings": DECODINGS}
    measure_script.main(job(inputs, path, settings=asked, measure="tbat"))


def both(folder, file):
    """Return the tables of both paths, after a check that they differ in their values at most."""
    one, other = (read_table(folder / path / file).to_pandas() for path in PATHS)
    assert list(one.columns) == list(other.columns)
    assert len(one) > 0
    keys = [name for name in one if not pd.api.types.is_float_dtype(one[name])]
    pd.testing.assert_frame_equal(one[keys], other[keys])
    return one, other


@pytest.mark.parametrize("name", [*SHAPES, "svd"])
def test_logits_are_the_same_stored_or_rebuilt(measured, name):
    assert [logits_column(measured / path / f"{name}.parquet")[0] for path in PATHS] == ["logits", "state"]
    groups = zip(*(logit_groups(measured / path / f"{name}.parquet") for path in PATHS), strict=True)
    for (keys, own), (its_keys, rebuilt) in groups:
        assert keys.equals(its_keys)
        assert own.std() > 0.3
        np.testing.assert_allclose(rebuilt, own, **ROUNDING)


@pytest.mark.parametrize("metric", OF_DISTRIBUTIONS)
@pytest.mark.parametrize("name", ["model", "svd"])
def test_scores_are_the_same(measured, name, metric):
    one, other = both(measured, f"scores/{name}/{metric}.parquet")
    assert len(one) == COUNT * SCORED * len(DECODINGS) * len(SHAPES)
    assert one.value.abs().max() > 0.01
    np.testing.assert_allclose(other.value, one.value, **ROUNDING)


@pytest.mark.parametrize("condition", ["full", "tangent"])
def test_tbat_is_the_same(measured, condition):
    one, other = both(measured, f"{condition}.parquet")
    assert one.low.max() > 0.01
    assert (one.low < 0.99).any()
    for name in ("low", "high", "value"):
        np.testing.assert_allclose(other[name], one[name], atol=1e-6)


@pytest.mark.parametrize("decoding", [entry["name"] for entry in SAMPLED])
def test_samples_are_the_same_bytes(measured, decoding):
    one, other = (read_table(measured / path / f"{decoding}.samples.parquet") for path in PATHS)
    assert one.equals(other)
    assert {len(text) for text in one["continuation"].to_pylist()} == {SCORED}


@pytest.fixture(scope="module")
def from_hub(texts):
    """Return the folder with logits of a model of transformers with 264 ids, as one over bytes and one over tokens."""
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 64}
    config = AutoConfig.for_model("gpt2", vocab_size=264, bos_token_id=256, eos_token_id=256, **shape)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(texts / "hub")
    byte_tokens().save(str(texts / "hub/tokenizer.json"))
    (texts / "hub.json").write_text(json.dumps(take_stock(texts / "hub", MODEL_FILES)))
    for path in PATHS:
        logits_of_hub(texts, path)
    return texts


def of_hub(texts, path):
    """Return what steps read of the model of transformers, and their settings."""
    layout = {"bytes": {"layout": "causal_lm", "byte_offset": 0}, "tokens": {"layout": "tokens"}}[path]
    inputs = {"windows": texts / f"{path}.windows.parquet", "manifest": texts / "hub.json"}
    for name, file in (("vocabulary", "vocabulary.parquet"), ("tokenizer", "tokenizer.json")):
        inputs[name] = [] if path == "bytes" else texts / file
    return inputs, {**settings(path), **layout, "bos": 256}


def logits_of_hub(texts, path):
    inputs, read = of_hub(texts, path)
    outputs = {"logits": texts / path / "hub.parquet", "hidden": texts / path / "hub.hidden.parquet"}
    logits_script.main(job(inputs, outputs, "hub", settings=read))


def test_a_model_from_the_hub_is_the_same_as_one_over_bytes(from_hub):
    groups = [logit_groups(from_hub / path / "hub.parquet", ["target", "special_mass"]) for path in PATHS]
    for (keys, own), (its_keys, rebuilt) in zip(*groups, strict=True):
        assert keys["target"].equals(its_keys["target"])
        np.testing.assert_allclose(rebuilt, own, atol=1e-5)
        mass, its_mass = keys["special_mass"].to_numpy(), its_keys["special_mass"].to_numpy()
        np.testing.assert_allclose(its_mass, mass, rtol=1e-5)
        assert mass.min() > 1e-4  # of the special id and of seven rows that pad the head
        assert own.shape[1] == rebuilt.shape[1] == 256


def test_samples_of_a_truncated_head_of_a_model_from_the_hub(from_hub):
    inputs, read = of_hub(from_hub, "tokens")
    texts = []
    for rank in (None, 2):
        output = {"pure": str(from_hub / f"rank{rank}.samples.parquet")}
        sampled = read | {"seed": 1, "decodings": [{"name": "pure"}]}
        sample_script.main(job(inputs, list(output.values()), "hub", settings=sampled, rank=rank))
        texts.append(read_table(output["pure"])["continuation"].to_pylist())
    assert all(map(len, texts[1]))
    assert texts[0] != texts[1]


def test_a_model_from_the_hub_that_reads_the_windows_otherwise_is_refused(from_hub):
    """Although its vocabulary, and all else that is asked of it, is the study's."""
    byte_tokens(normalizer=normalizers.Replace("Sentence", "S")).save(str(from_hub / "hub/tokenizer.json"))
    (from_hub / "hub.json").write_text(json.dumps(take_stock(from_hub / "hub", MODEL_FILES)))
    with pytest.raises(
        UserError, match=r"hub: its tokenizer is not that of the other model: .* at 'entence .* has id 32"
    ):
        logits_of_hub(from_hub, "tokens")
