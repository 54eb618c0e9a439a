"""Models that cap their logits, Gemma 2 of 256 bytes and of 2,000 tokens, against the logits of transformers."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hub_models import check_remembering, edit, vocabulary, write_gemma2, write_token_model
from step_jobs import job

import head_logits
from oversmoothing.hub.client import MODEL_FILES, take_stock
from oversmoothing.jobs import UserError
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import head_file, logit_groups, save_head, states_batch, states_schema
from oversmoothing.models.logits import WindowStates, hidden_schema
from oversmoothing.models.pretrained import auto
from oversmoothing.models.pretrained.auto import softcap_in
from oversmoothing.models.spectra import ALONE, read_facts, read_head
from oversmoothing.models.truths.load import check_token_lm, load_causal_lm, load_token_lm, load_truth
from oversmoothing.samples.bat import decoder_of
from oversmoothing.store.parquet import open_writer

CPU = torch.device("cpu")
TOKENS = torch.arange(0, 250, 7)[None]
CAPS = [(256, 0.5), (2000, 30.0)]
LOOSE, TIGHT = 30.0, 0.5


def load(folder, size, precision="float32"):
    """Return a model, and the id of each of its tokens."""
    if size == 256:
        return load_causal_lm(folder, "own", 0, None, CPU, precision), torch.arange(256)
    own = vocabulary(folder)
    return load_token_lm(folder, "own", own, None, CPU, precision), torch.from_numpy(own.ids).long()


@torch.inference_mode()
@pytest.mark.parametrize(("size", "cap"), CAPS)
def test_logits_are_those_of_transformers(tmp_path, size, cap):
    reference = write_gemma2(tmp_path, size, cap)
    model, ids = load(tmp_path, size)
    assert model.config.vocabulary == (256 if size == 256 else 1998)
    expected = reference(input_ids=ids[TOKENS]).logits
    post = model.hidden(TOKENS)[1]
    logits = model.logits(post)
    assert model.cap == cap
    torch.testing.assert_close(logits, expected[..., ids], atol=1e-4, rtol=0)
    linear = model.head(post)
    assert linear.abs().max() > (10 * cap if cap == TIGHT else 1)
    assert (logits - linear).abs().max() > (10 * cap if cap == TIGHT else 1e-4)  # without the cap they are others
    mass = 1 - expected.double().softmax(-1)[..., ids].sum(-1)
    torch.testing.assert_close(model.special_mass(post).double(), mass, atol=1e-5, rtol=0)
    draw = np.random.default_rng(0)
    check_remembering(model, torch.from_numpy(draw.integers(0, model.config.vocabulary, (3, 24))))


@torch.inference_mode()
def test_a_cap_far_above_the_logits_is_applied_and_found_under_any_name(tmp_path, monkeypatch):
    reference = write_gemma2(tmp_path, 2000, LOOSE, std=0.02)
    model, ids = load(tmp_path, 2000)
    expected = reference(input_ids=ids[TOKENS]).logits[..., ids]
    post = model.hidden(TOKENS)[1]
    linear = model.head(post)
    assert linear.abs().max() < 1  # no difference shows
    torch.testing.assert_close(linear, expected, atol=1e-3, rtol=0)
    assert model.cap == LOOSE
    torch.testing.assert_close(model.logits(300 * post), LOOSE * torch.tanh(300 * linear / LOOSE), atol=1e-4, rtol=0)
    monkeypatch.setattr(auto, "SOFTCAPS", ())  # as if its config called it otherwise
    with pytest.raises(UserError, match="own: where they are large, its logits are not its head times its last"):
        load(tmp_path, 2000, "bf16")


def test_a_cap_that_only_the_config_knows(tmp_path):
    write_token_model(tmp_path, "llama")
    edit(tmp_path / "config.json", final_logit_softcapping=1e3)
    with pytest.raises(UserError, match=r"own: where they are large, .* capped at 1000 as its config says \(off by"):
        load(tmp_path, 301)


def test_caps_of_a_config_that_can_be_used_and_others():
    text = SimpleNamespace(final_logit_softcapping=30)
    config = SimpleNamespace(get_text_config=lambda: text)
    assert softcap_in(config, "c.json", "own") == 30.0
    text.logits_soft_cap = 20.0
    with pytest.raises(UserError, match="it caps its logits twice, by final_logit_softcapping and logits_soft_cap"):
        softcap_in(config, "c.json", "own")
    for text.logits_soft_cap in ("30", -1.0, True, float("nan")):
        with pytest.raises(UserError, match=r"own: c\.json: logits_soft_cap is .*, not a cap of its logits; it"):
            softcap_in(config, "c.json", "own")


def test_a_member_must_be_called_capped_and_a_truth_need_not(tmp_path):
    write_gemma2(tmp_path / "soft", 2000, LOOSE)
    write_token_model(tmp_path / "plain", "llama")
    settings = {"layout": "tokens", "bos": "auto"}

    def loaded(name, **more):
        manifest = tmp_path / f"{name}.json"
        manifest.write_text(json.dumps(take_stock(tmp_path / name, MODEL_FILES)))
        own = vocabulary(tmp_path / name)
        assert check_token_lm(tmp_path / name, "own", own) == (64, LOOSE if name == "soft" else None)
        return load_truth(manifest, name, settings | more, CPU, "float32", own).cap

    assert loaded("soft") == loaded("soft", capped=True) == LOOSE
    assert loaded("plain") is loaded("plain", capped=False) is None
    with pytest.raises(UserError, match=r"soft: .*config\.json: its logits are capped at 30; write `capped: true`"):
        loaded("soft", capped=False)
    with pytest.raises(UserError, match=r"plain: .*config\.json: its logits are not capped; remove `capped: true`"):
        loaded("plain", capped=True)


@pytest.fixture
def stored(tmp_path):
    """A file of states whose head has a bias and a cap of 2; its linear logits, and what enters the head."""
    draw = np.random.default_rng(0)
    head, bias, post = (draw.normal(size=shape).astype(np.float32) for shape in ((30, 6), 30, (5, 6)))
    path = tmp_path / "soft.parquet"
    seal = save_head(head_file(path), 3 * head, bias, {"head": ALONE}, 2.0)
    with open_writer(path, states_schema(6, "float32"), seal) as writer:
        target = np.zeros(5, np.int32)
        states = WindowStates(0, target, post, post, post)
        writer.write_batch(states_batch(states, "float32"))
    with open_writer(tmp_path / "hidden.parquet", hidden_schema(6, 6), {}) as writer:
        writer.write_batch(states.hidden_batch())
    return path, 3 * head, bias, post


def rebuilt(path):
    ((_, logits),) = logit_groups(path)
    return logits


@pytest.mark.parametrize("states", ["float32", None])
def test_logits_that_are_rebuilt_are_capped_and_those_of_a_truncated_head_too(stored, states):
    path, head, bias, post = stored
    np.testing.assert_allclose(rebuilt(path), 2 * np.tanh((post @ head.T + bias) / 2), atol=1e-6)
    assert abs(post @ head.T + bias).max() > 6
    output = SimpleNamespace(logits=path.with_name("svd.parquet"))
    step = job({"weights": head_file(path), "hidden": path.with_name("hidden.parquet")}, output, model="svd")
    step.params = SimpleNamespace(rank=3, states=states)
    head_logits.main(step)
    u, s, vt = np.linalg.svd(head.astype(np.float64), full_matrices=False)
    linear = post @ ((u[:, :3] * s[:3]) @ vt[:3]).T + (bias if states else 0)  # no head over bytes has a bias
    np.testing.assert_allclose(rebuilt(output.logits), 2 * np.tanh(linear / 2), atol=1e-5)


def test_a_capped_head_is_read_as_linear_by_nobody_who_does_not_say_so(stored, tmp_path):
    beside = head_file(stored[0])
    assert read_facts(beside)["cap"] == "2.0"
    assert np.array_equal(read_head(beside, capped=True), stored[1])
    for read in (read_head, read_model_head):
        with pytest.raises(UserError, match=r"soft\.head\.safetensors: its logits are capped at 2, and what is asked"):
            read(beside)
    write_gemma2(tmp_path, 256, LOOSE)
    with pytest.raises(UserError, match="decoding bat: it needs linear logits, and this model's are capped at 30"):
        decoder_of({"name": "bat", "delta": 0.2}, load(tmp_path, 256)[0])
