"""Checkpoints that the user brings, and whose config is not that of their tensors."""

import json
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

import adopt
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model, save_model

SHAPE = vars(GPTConfig(layers=1, heads=2, width=16, block=32, rank=4))


def take_in(folder, config, tensors=None):
    """Run the job on a checkpoint of `SHAPE` whose header says `config`; return what it wrote."""
    tensors = tensors or GPT(GPTConfig(**SHAPE)).state_dict()
    save_file(tensors, folder / "mine.safetensors", {"config": json.dumps(config)})
    return adopted(folder)


def adopted(folder):
    output = SimpleNamespace(weights=folder / "models/mine.safetensors")
    adopt.main(SimpleNamespace(input=[folder / "mine.safetensors"], output=output, params=SimpleNamespace(block=32)))
    return output.weights


def test_a_whole_checkpoint_is_taken_in_and_sealed(tmp_path):
    path = take_in(tmp_path, SHAPE)
    assert vars(load_model(path).config) == SHAPE
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match=r"models/mine\.safetensors: .*\(its checksum differs\)"):
        load_model(path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (None, r"no model config in its metadata \(model: None is no mapping"),
        ({**SHAPE, "heads": 0}, "heads 0 must be a whole number from 1 on"),
        ({**SHAPE, "layers": 10**6}, "its config has 1000000 layers, but it holds 11 tensors"),
        ({**SHAPE, "output": "softcap"}, "softcap is no linear head, which a member with a `path` has; train it"),
        ({**SHAPE, "output": []}, r"output is \[\]; it may be linear, softcap"),
        ({**SHAPE, "layers": 2}, r"its tensor blocks\.1\.\S+ is None, where its config makes it \("),
        ({**SHAPE, "block": 10**12}, r"position_embedding\.weight is \(32, 16\), where its config makes it \(10"),
    ],
)
def test_a_config_that_the_tensors_do_not_bear_out(tmp_path, config, message):
    with pytest.raises(UserError, match=rf"mine\.safetensors: .*{message}") as caught:
        take_in(tmp_path, config)
    assert "\n" not in str(caught.value)


def test_what_a_wrapper_puts_before_all_names_is_left_out(tmp_path):
    whole = GPT(GPTConfig(**SHAPE)).state_dict()
    path = take_in(tmp_path, SHAPE, {f"module._orig_mod.{name}": tensor.double() for name, tensor in whole.items()})
    assert all(torch.equal(tensor, whole[name]) for name, tensor in load_model(path).state_dict().items())


def test_a_tensor_that_is_there_with_and_without_a_wrapper(tmp_path):
    whole = GPT(GPTConfig(**SHAPE)).state_dict()
    both = whole | {"module.norm.weight": whole["norm.weight"] + 1}
    with pytest.raises(UserError, match=r"mine\.safetensors: it holds norm\.weight twice, with and without a wrapper"):
        take_in(tmp_path, SHAPE, both)


@pytest.mark.parametrize("dtype", ["int64", "bool", "float8_e4m3fn", "complex64"])
def test_tensors_that_are_no_floating_point_numbers(tmp_path, dtype):
    tensors = GPT(GPTConfig(**SHAPE)).state_dict()
    tensors["head.weight"] = tensors["head.weight"].to(getattr(torch, dtype))
    with pytest.raises(UserError, match=r"mine\.safetensors: its tensor head\.weight holds [A-Z]\w+; save the weights"):
        take_in(tmp_path, SHAPE, tensors)


@pytest.mark.parametrize("value", [float("nan"), -float("inf")])
def test_weights_that_are_no_numbers(tmp_path, value):
    tensors = {name: tensor.bfloat16() for name, tensor in GPT(GPTConfig(**SHAPE)).state_dict().items()}
    tensors["norm.weight"][2] = value
    with pytest.raises(UserError, match=r"mine\.safetensors: its tensor norm\.weight holds NaN or infinity; name an"):
        take_in(tmp_path, SHAPE, tensors)


def sealed_and_changed(path):
    save_model(path, GPTConfig(**SHAPE), GPT(GPTConfig(**SHAPE)).state_dict(), {})
    path.write_bytes(path.read_bytes()[:-1] + b"?")


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (
            lambda path: torch.save({}, path),
            "pickled weights, which can run code and are never read; convert it where you trust it: `safetens",
        ),
        (lambda path: path.write_bytes(b"GGUF" + bytes(60)), "weights in GGUF; convert"),
        (lambda path: path.write_bytes(b"some text"), r"not a complete safetensors file \(.*\); make or copy it again"),
        (
            sealed_and_changed,
            r"changed or damaged since it was written \(its checksum differs\); make or copy it again",
        ),
    ],
)
def test_a_users_own_file_is_never_to_be_deleted(tmp_path, write, message):
    write(tmp_path / "mine.safetensors")
    with pytest.raises(UserError, match=rf"mine\.safetensors: .*{message}") as caught:
        adopted(tmp_path)
    assert "delete" not in str(caught.value)
    assert "\n" not in str(caught.value)
