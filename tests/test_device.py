"""Which device and precision a config leads to here."""

import pytest
import torch

from oversmoothing.device import autocast, choose_device, choose_precision, make_deterministic
from oversmoothing.jobs import UserError


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu():
    assert choose_device("auto").type == "cpu"
    with pytest.raises(UserError, match="device: cuda is set in the config, but PyTorch sees no GPU here"):
        choose_device("cuda")


@pytest.mark.parametrize(("amx", "expected"), [(True, "bf16"), (False, "float32")])
def test_auto_takes_bf16_only_where_the_processor_multiplies_it(monkeypatch, amx, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": amx, "avx512_bf16": True})
    assert choose_precision("auto", torch.device("cpu")) == expected
    assert choose_precision("float32", torch.device("cpu")) == "float32"
    assert choose_precision("bf16", torch.device("cpu")) == "bf16"


def test_autocast_follows_the_precision():
    x = torch.randn(4, 4)
    with autocast(torch.device("cpu"), "bf16"):
        assert (x @ x).dtype == torch.bfloat16
    with autocast(torch.device("cpu"), "float32"):
        assert (x @ x).dtype == torch.float32


def test_threads_come_from_the_config():
    before = torch.get_num_threads()
    make_deterministic(torch.device("cpu"), 1)
    assert torch.get_num_threads() == 1
    torch.set_num_threads(before)
