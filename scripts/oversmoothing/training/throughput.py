"""Speed of a training: bytes per second, and the share of the device's peak arithmetic."""

import time
from dataclasses import dataclass

import torch

from oversmoothing.models.model import GPT
from oversmoothing.models.output_kinds import KINDS

# Peak FLOP/s of dense bf16 products with float32 sums, by a part of the device's name, from the vendors' data sheets.
# The first match counts, so specific names precede general ones. TF32 reaches half of it on each of these.
PEAKS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100 NVL": 835e12,
    "H100": 989e12,
    "A100": 312e12,
    "A40": 150e12,
    "A10G": 70e12,
    "A10": 125e12,
    "L40S": 362e12,
    "L40": 181e12,
    "L4": 121e12,
    "RTX A6000": 155e12,
    "RTX 4090": 165e12,
    "RTX 3090": 71e12,
}


def flops_per_byte(model: GPT) -> int:
    """Floating-point operations of training on one byte: 6 N + 12 L d T, a matrix counted as often as it is multiplied.

    The result equals `gpt_shape.flops_per_byte`, which training does not import, because a change to anything it
    imports retrains every model.
    """
    config = model.config
    weights = sum(p.numel() for name, p in model.named_parameters() if p.dim() >= 2 and "embedding" not in name)
    weights += (KINDS[config.output].times - 1) * model.head.weight.numel()
    return 6 * weights + 12 * config.layers * config.width * config.block


def peak_flops(name: str, precision: str) -> float | None:
    """Peak FLOP/s of a GPU of this name in bf16, or in float32 through TF32; None if unknown."""
    for part, peak in PEAKS.items():
        if part in name:
            return peak if precision == "bf16" else peak / 2
    return None


@dataclass
class Throughput:
    """Clock of the time that training steps take; `peak` is the FLOP/s of all devices together."""

    flops_per_byte: int
    peak: float | None
    _since: float | None = None
    _bytes: int = 0

    @classmethod
    def of(cls, model: GPT, precision: str, devices: int) -> "Throughput":
        """Clock of a training on this number of devices like the model's."""
        device = model.head.weight.device
        peak = peak_flops(torch.cuda.get_device_name(device), precision) if device.type == "cuda" else None
        return cls(flops_per_byte(model), peak and peak * devices)

    def add(self, count: int) -> None:
        """Count the bytes of a finished step. The first one after a pause may include compilation and is not timed."""
        if self._since is None:
            self._since, self._bytes = time.perf_counter(), 0
        else:
            self._bytes += count

    def pause(self) -> None:
        """Stop the clock until the next step."""
        self._since = None

    @property
    def running(self) -> bool:
        """Whether a speed is available, which takes two steps after a pause."""
        return self._since is not None and self._bytes > 0

    def __str__(self) -> str:
        """Speed since the last pause as text. On a GPU the caller must synchronise first."""
        if self._since is None:
            raise ValueError("no step since the last pause")
        speed = self._bytes / (time.perf_counter() - self._since)
        flops = speed * self.flops_per_byte
        share = f", {flops / self.peak:.0%} of the peak" if self.peak else ""
        return f"{speed:,.0f} bytes/s, {flops / 1e12:.3g} TFLOP/s{share}"
