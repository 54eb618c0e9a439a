"""Pictures of two models: how KL and dp are distributed over positions, and where in a passage KL is large."""

import io
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oversmoothing.comparison.stream import Noise
from oversmoothing.tables.figures.colours import PALETTE, RED
from oversmoothing.tables.figures.style import METADATA, style

SIZE = 5.0, 3.0  # inches
BINS = 50
SMALLEST = 1e-9  # nats and probability: what is less is drawn there


def pictures(kl: Sequence[np.ndarray], dp: Sequence[np.ndarray], noise: Noise | None, unit: str) -> dict[str, bytes]:
    """Return pictures as SVG, by what they show; `kl` and `dp` have the values of each passage, (n,)."""
    nats, gained = np.concatenate(kl), np.concatenate(dp)
    return {
        "KL of all positions, nats": _drawn(lambda axes: _magnitudes(axes, nats, "KL, nats", noise and noise.mean)),
        f"Size of dp, the change in the probability of the {unit} that came next": _drawn(
            lambda axes: _magnitudes(axes, abs(gained), "|dp|", noise and noise.dp)
        ),
        "Mean KL by place in the passage, nats": _drawn(lambda axes: _along(axes, kl, unit)),
    }


def _magnitudes(axes: Axes, values: np.ndarray, label: str, floor: float | None) -> None:
    """Draw a histogram over powers of ten, with the mean and the noise floor as lines."""
    shown = np.maximum(values, SMALLEST)
    low, high = shown.min(), max(shown.max(), shown.min() * 10)
    axes.hist(shown, bins=np.geomspace(low, high, BINS).tolist(), color=PALETTE[0])
    axes.set_xscale("log")
    axes.axvline(max(float(values.mean()), SMALLEST), color="black", linewidth=1, label="mean")
    if floor:
        axes.axvline(max(floor, SMALLEST), color=RED, linestyle="--", label="noise floor")
    axes.set(xlabel=label, ylabel="positions")
    axes.legend()


def _along(axes: Axes, kl: Sequence[np.ndarray], unit: str) -> None:
    """Draw the mean over passages at each place behind the prompt."""
    length = min(map(len, kl))
    axes.plot(np.arange(1, length + 1), np.mean([of[:length] for of in kl], axis=0), color=PALETTE[0])
    axes.set(xlabel=f"{unit}s behind the prompt", ylabel="mean KL, nats", ylim=(0, None))


def _drawn(draw: Callable[[Axes], None]) -> bytes:
    """Return a picture of one pair of axes as SVG."""
    with style():
        figure = Figure(figsize=SIZE)
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata=METADATA["svg"])
        return file.getvalue()
