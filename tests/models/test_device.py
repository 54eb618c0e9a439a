"""Which device and precision a config leads to here."""

import pytest
import torch

from oversmoothing.jobs import UserError
from oversmoothing.models.device import choose_compile, choose_device, choose_precision


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu():
    assert choose_device("auto").type == "cpu"
    with pytest.raises(UserError, match="device: cuda is set in the config, but PyTorch sees no GPU here"):
        choose_device("cuda")


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"amx_bf16": True, "avx512_bf16": True, "cpu_name": "Intel(R) Xeon(R)"}, "bf16"),
        ({"amx_bf16": False, "avx512_bf16": True, "cpu_name": "Intel(R) Xeon(R)"}, "float32"),
        ({"amx_bf16": False, "avx512_bf16": True, "cpu_name": "AMD EPYC"}, "bf16"),
        ({}, "float32"),
    ],
)
def test_auto_takes_bf16_only_where_the_processor_is_faster_at_it(monkeypatch, capabilities, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    chosen = [choose_precision(name, torch.device("cpu")) for name in ("auto", "float32", "bf16")]
    assert chosen == [expected, "float32", "bf16"]


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(UserError, match="asks for 2 or more GPUs on this machine, but PyTorch sees 1"):
        choose_device("auto", 1)


def test_compiling_is_for_gpus_unless_asked_for(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("oversmoothing.models.device.find_spec", lambda name: name)
    assert choose_compile("auto", torch.device("cuda"))
    assert not choose_compile("auto", torch.device("cpu"))
    assert choose_compile(True, torch.device("cpu"))
    assert not choose_compile(False, torch.device("cuda"))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert not choose_compile("auto", torch.device("cuda"))
