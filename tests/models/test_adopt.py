"""Checkpoints that the user brings, and whose config is not that of their tensors."""

import json
from types import SimpleNamespace

import pytest

import adopt
from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.weights import load_model, save_tensors

SHAPE = vars(GPTConfig(layers=1, heads=2, width=16, block=32, rank=4))


def take_in(folder, config):
    """Run the job on a checkpoint of `SHAPE` whose header says `config`; return what it wrote."""
    save_tensors(folder / "mine.safetensors", GPT(GPTConfig(**SHAPE)).state_dict(), {"config": json.dumps(config)})
    output = SimpleNamespace(weights=folder / "models/mine.safetensors")
    adopt.main(SimpleNamespace(input=[folder / "mine.safetensors"], output=output, params=SimpleNamespace(block=32)))
    return output.weights


def test_a_whole_checkpoint_is_taken_in(tmp_path):
    assert vars(load_model(take_in(tmp_path, SHAPE)).config) == SHAPE


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], r"no model config in its metadata \(model: \[\] is no mapping"),
        (None, r"no model config in its metadata \(model: None is no mapping"),
        ({**SHAPE, "heads": 0}, "heads 0 must be a whole number from 1 on"),
        ({**SHAPE, "layers": None}, "layers None must be a whole number"),
        ({**SHAPE, "width": "x"}, "width 'x' must be a whole number"),
        ({**SHAPE, "rank": 4.5}, r"rank 4\.5 must be a whole number"),
        ({**SHAPE, "dropout": -3}, "dropout -3 must lie between 0 and 1"),
        ({**SHAPE, "layers": 10**6}, "its config has 1000000 layers, but it holds 11 tensors"),
        (
            {**SHAPE, "output": "softcap"},
            "output: softcap is no linear head, which a member with a `path` has; train it",
        ),
        ({**SHAPE, "output": "other"}, "output is 'other'; it may be linear, softcap"),
        ({**SHAPE, "output": []}, "unhashable type: 'list'"),
        ({**SHAPE, "layers": 2}, r"its tensor blocks\.1\.\S+ is None, where its config makes it \("),
        ({**SHAPE, "block": 10**12}, r"position_embedding\.weight is \(32, 16\), where its config makes it \(10"),
    ],
)
def test_a_config_that_the_tensors_do_not_bear_out(tmp_path, config, message):
    with pytest.raises(UserError, match=rf"mine\.safetensors: .*{message}") as caught:
        take_in(tmp_path, config)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "models/mine.safetensors").exists()
