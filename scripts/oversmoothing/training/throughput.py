"""Speed of a training: bytes per second, and the share of the device's peak arithmetic."""

import time
from dataclasses import dataclass

import torch

from oversmoothing.model import GPT

# Dense bf16 products with float32 sums, in FLOP/s, by what the device's name contains; from the makers' data sheets.
# The first that fits counts, so the special stands before the general. TF32 has half of it on each of these.
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
    """Floating-point operations of training on one byte: 6 N + 12 L d T.

    N counts the weights of the model that take part in matrix products; embeddings are looked up. The second term is
    attention over a full block of T bytes (Chowdhery et al. 2022, appendix B). It equals `gpt_shape.flops_per_byte`,
    which training does not import, because an edit to what it imports retrains every model.
    """
    config = model.config
    weights = sum(p.numel() for name, p in model.named_parameters() if p.dim() >= 2 and "embedding" not in name)
    return 6 * weights + 12 * config.layers * config.width * config.block


def peak_flops(name: str, precision: str) -> float | None:
    """Peak FLOP/s of a GPU of this name in bf16, or in float32 through TF32; None if unknown."""
    for part, peak in PEAKS.items():
        if part in name:
            return peak if precision == "bf16" else peak / 2
    return None


@dataclass
class Throughput:
    """A clock that runs while steps are taken.

    Attributes
    ----------
    flops_per_byte : int
    peak : float or None
        FLOP/s of all devices together.
    """

    flops_per_byte: int
    peak: float | None
    _since: float | None = None
    _bytes: int = 0

    @classmethod
    def of(cls, model: GPT, precision: str, devices: int) -> "Throughput":
        """Clock of a training on `devices` devices like the model's."""
        device = model.head.weight.device
        peak = peak_flops(torch.cuda.get_device_name(device), precision) if device.type == "cuda" else None
        return cls(flops_per_byte(model), peak and peak * devices)

    def add(self, count: int) -> None:
        """Count the bytes of a finished step. The first after a pause only starts the clock: it may have compiled."""
        if self._since is None:
            self._since, self._bytes = time.perf_counter(), 0
        else:
            self._bytes += count

    def pause(self) -> None:
        """Stop the clock until the next step."""
        self._since = None

    @property
    def running(self) -> bool:
        """Whether there is a speed: two steps since the last pause."""
        return self._since is not None and self._bytes > 0

    def __str__(self) -> str:
        """Speed since the last pause, in words. On a GPU the caller waits for the steps first."""
        if self._since is None:
            raise ValueError("no step since the last pause")
        speed = self._bytes / (time.perf_counter() - self._since)
        flops = speed * self.flops_per_byte
        share = f", {flops / self.peak:.0%} of the peak" if self.peak else ""
        return f"{speed:,.0f} bytes/s, {flops / 1e12:.3g} TFLOP/s{share}"
