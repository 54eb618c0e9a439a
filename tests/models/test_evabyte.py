"""EvaByte as a Llama, against its forward pass in plain NumPy, and checkpoints that are none."""

import json

import numpy as np
import pytest
import torch
from hub_models import EVABYTE, check_remembering, evabyte_logits, evabyte_tensors, write_evabyte
from scipy.special import softmax

from oversmoothing.hub.client import MODEL_FILES, take_stock
from oversmoothing.jobs import UserError
from oversmoothing.models.device import autocast
from oversmoothing.models.truths.evabyte import load_evabyte
from oversmoothing.models.truths.load import load_truth
from oversmoothing.samples.generate import generate

CPU = torch.device("cpu")
TEXT = np.random.default_rng(0).integers(0, 256, 60)
IDS = np.concatenate([[1], 64 + TEXT])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "evabyte"
    write_evabyte(path)
    return path


@pytest.fixture(scope="module")
def model(folder):
    return load(folder)


@pytest.fixture(scope="module")
def expected():
    """Logits (60, 320) after each byte."""
    return evabyte_logits(evabyte_tensors(), IDS)[1:]


BYTES = torch.from_numpy(TEXT)[None]


def load(folder, precision="float32"):
    return load_evabyte(folder, "evabyte", CPU, precision)


@torch.inference_mode()
def test_logits_are_those_of_a_plain_forward_pass(model, expected):
    pre, post = model.hidden(BYTES)
    assert pre is post
    assert post.shape == (1, 60, 32)
    logits = model.logits(post)[0].numpy()
    assert expected.std() > 0.5
    np.testing.assert_allclose(logits, expected[:, 64:], atol=1e-3)
    mass = model.special_mass(post)[0].numpy()
    np.testing.assert_allclose(mass, softmax(expected, axis=-1)[:, :64].sum(-1), atol=1e-5)
    assert 0.01 < mass.mean() < 0.9


@torch.inference_mode()
def test_norms_may_be_stored_without_an_offset(tmp_path):
    config = EVABYTE | {"norm_add_unit_offset": False}
    write_evabyte(tmp_path, config)
    own = load(tmp_path)
    expected = evabyte_logits(evabyte_tensors(), IDS, config)[1:]
    np.testing.assert_allclose(own.logits(own.hidden(BYTES)[1])[0].numpy(), expected[:, 64:], atol=1e-3)


@torch.inference_mode()
def test_matrices_in_bf16_leave_the_rest_in_float32(folder, model, expected):
    half = load(folder, "bf16")
    dtypes = {name: tensor.dtype for name, tensor in half.trunk.state_dict().items()}
    assert {dtype for name, dtype in dtypes.items() if "proj" in name} == {torch.bfloat16}
    assert {dtype for name, dtype in dtypes.items() if "proj" not in name} == {torch.float32}
    with autocast(CPU, "bf16"):
        post = half.hidden(BYTES)[1]
        error = half.logits(post)[0].numpy() - expected[:, 64:]
        cache = half.cache(60)
        cache.feed(BYTES)
    assert post.dtype == torch.float32
    assert half.logits(post).dtype == torch.float32
    assert 0 < np.sqrt((error**2).mean()) < 0.03 * expected.std()
    assert cache.memory.layers[0].keys.dtype == torch.bfloat16


def test_remembering_changes_no_logits(model):
    check_remembering(model, torch.from_numpy(np.random.default_rng(1).integers(0, 256, (3, 40))))


@torch.inference_mode()
def test_without_a_beginning_a_text_begins_with_its_bytes(tmp_path):
    write_evabyte(tmp_path / "evabyte")
    (tmp_path / "evabyte.json").write_text(json.dumps(take_stock(tmp_path / "evabyte", MODEL_FILES)))
    expected = {True: evabyte_logits(evabyte_tensors(), IDS)[1:], False: evabyte_logits(evabyte_tensors(), IDS[1:])}
    for bos, block in ((True, 127), (False, 128)):
        settings = {"layout": "evabyte", "bos": bos}
        model = load_truth(tmp_path / "evabyte.json", "evabyte", settings, CPU, "float32")
        logits = model.logits(model.hidden(BYTES)[1])[0].numpy()
        np.testing.assert_allclose(logits, expected[bos][:, 64:], atol=1e-3)
        assert model.config.block == block
    assert np.abs(expected[True] - expected[False]).max() > 0.1


def test_contexts_beyond_the_window_are_refused(model):
    assert model.config.block == 127  # 128 ids, of which BOS is one
    assert model.hidden(torch.zeros((1, 127), dtype=torch.int64))[1].shape == (1, 127, 32)
    with pytest.raises(UserError, match="evabyte: a context of 128 bytes is longer than the 127 that it attends to"):
        model.hidden(torch.zeros((1, 128), dtype=torch.int64))
    with pytest.raises(UserError, match="do not fit into the model's block of 127"):
        list(generate(model, [0], [b"x" * 100], 28, {"name": "pure"}, 1, 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "llama"}, r"model_type is 'llama'; only EvaByte's own, 'evabyte', .* `layout: causal_lm`"),
        ({"rope_scaling": {"type": "linear"}}, "rope_scaling is"),
        ({"num_hidden_layers": 3}, r"tensor model\.layers\.2\.\S+ is missing \(9 in all\)"),
        ({"num_hidden_layers": 1}, r"tensor model\.layers\.1\.\S+ is none of EvaByte's \(9 in all\)"),
        ({"num_pred_heads": 4}, r"lm_head\.weight has the shape \(960, 32\), but config\.json makes it \(1280, 32\)"),
        ({"intermediate_size": 64}, r"down_proj\.weight has the shape \(32, 48\)"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers is 1000000, but the files hold 25 tensors"),
        ({"window_size": ...}, r"config\.json: no Llama model can be built from it \(KeyError: 'window_size'"),
        ({"norm_add_unit_offset": ...}, r"no Llama model can be built from it \(KeyError: 'norm_add_unit_offset'"),
        ({"num_attention_heads": 0}, r"config\.json: no Llama model can be built from it"),
        ({"rope_theta": "x"}, r"config\.json: no Llama model can be built from it"),
        ({"hidden_size": 2**62}, r"config\.json: no Llama model can be built from it"),
    ],
)
def test_other_architectures_and_odd_configs_are_refused(tmp_path, change, message):
    config = {key: value for key, value in (EVABYTE | change).items() if value is not ...}
    write_evabyte(tmp_path, config, evabyte_tensors())
    with pytest.raises(UserError, match=message):
        load(tmp_path)


def test_weights_that_are_no_numbers(tmp_path):
    tensors = evabyte_tensors()
    tensors["model.norm.weight"][0] = float("nan")
    write_evabyte(tmp_path, tensors=tensors)
    with pytest.raises(UserError, match=r"its tensor model\.norm\.weight holds NaN or infinity"):
        load(tmp_path)
    write_evabyte(tmp_path)
    model = load(tmp_path)
    model.head.weight[0] = float("nan")
    with torch.inference_mode(), pytest.raises(UserError, match="its logits are not all finite numbers"):
        model.special_mass(model.hidden(BYTES)[1])
