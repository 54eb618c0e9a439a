"""Bytes a second and the share of the peak."""

import time

import pytest

from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.training.throughput import Throughput, flops_per_byte, peak_flops


def test_the_thesis_s_family():
    """50M parameters in the blocks at block 1024: attention adds a third."""
    config = GPTConfig(layers=16, heads=16, width=512, block=1024, rank=512)
    assert flops_per_byte(GPT(config)) == pytest.approx(6 * 50.7e6 + 12 * 16 * 512 * 1024, rel=0.01)


def test_peaks_by_name():
    """In 10^12 operations per second."""
    peaks = {"H100 80GB HBM3": 989, "H100 PCIe": 756, "L40S": 362, "A10G": 70}
    assert {name: peak_flops(f"NVIDIA {name}", "bf16") / 1e12 for name in peaks} == peaks
    assert peak_flops("NVIDIA A100-SXM4-80GB", "float32") == 156e12
    assert peak_flops("NVIDIA T4", "bf16") is None


def test_the_clock_leaves_out_the_first_step_and_pauses(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = Throughput(flops_per_byte=10**9, peak=4e12)
    clock.add(1000)
    assert not clock.running
    now[0] = 2.0
    clock.add(1000)
    clock.add(1000)
    assert str(clock) == "1,000 bytes/s, 1 TFLOP/s, 25% of the peak"
    clock.pause()
    assert not clock.running
    assert "peak" not in str(Throughput(1, None, 0.0, 5))
