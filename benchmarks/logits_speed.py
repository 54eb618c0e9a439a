"""Logits of evaluation windows: one pass over a batch of windows against one pass per byte.

Run from anywhere: ``python benchmarks/logits_speed.py [--layers 2] [--width 288] [--windows 16] [--all]``. For each
scored byte of a window, the released code ran the model over the preceding bytes and kept the last row. This is timed
at a few positions of one window and integrated by the trapezoidal rule, or with ``--all`` at every position; the logits
of both methods are compared wherever both exist. They run in one process, in alternation, measured in processor time.
Exits with status 1 if ours is less than 100 times as fast, or if a logit differs by more than 1e-4.
"""

import argparse
import sys
from functools import partial
from typing import Any

import measuring
import numpy as np
import pyarrow as pa
import torch

from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.inference import run_windows
from oversmoothing.models.model import GPT

PROMPT, SCORED, BATCH, SPACING = 100, 500, 16, 50
ASKED, TOLERANCE = 100, 1e-4


def main(options: argparse.Namespace) -> int:
    """Print the speeds and the largest difference; return the exit status."""
    torch.set_num_threads(options.threads)
    timed = partial(measuring.timed, threads=options.threads)
    shape = GPTConfig(options.layers, options.heads, options.width, PROMPT + SCORED)
    model = GPT(shape, seed=1).eval().to(options.device)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3 if parameter.dim() > 1 else 1)  # so that logits are as large as a trained model's
    draw = np.random.default_rng(1)
    windows = pa.table(
        {
            "window": list(range(options.windows)),
            "prompt": [draw.bytes(PROMPT) for _ in range(options.windows)],
            "scored": [draw.bytes(SCORED) for _ in range(options.windows)],
        }
    )
    spacing = 1 if options.all else SPACING
    positions = np.unique(np.append(np.arange(0, SCORED, spacing), SCORED - 1))
    list(run_windows(model, windows.slice(0, 1), BATCH))
    ours: list[float] = []
    theirs: list[float] = []
    difference = 0.0
    for turn in range(options.repeats):
        states, seconds = timed(lambda: list(run_windows(model, windows, BATCH)))
        ours.append(seconds / options.windows)
        window = windows.slice(turn % options.windows, 1).to_pylist()[0]
        rows, taken = zip(*(timed(partial(one_byte, model, window, i)) for i in positions), strict=True)
        theirs.append(float(np.interp(np.arange(SCORED), positions, taken).sum()))
        stored = states[turn % options.windows].logits[positions]
        difference = max(difference, float(np.abs(np.stack(rows) - stored).max()))
    ratio = float(np.median(theirs) / np.median(ours))
    size = float(np.abs(stored).max())
    print(
        f"{options.layers} layers of width {options.width}, windows of {PROMPT} + {SCORED} bytes, {BATCH} per pass, "
        f"float32, {options.threads} thread(s), PyTorch {torch.__version__}"
    )
    print(f"one pass per window: {np.median(ours):.4f} s a window")
    print(f"one pass per byte:   {np.median(theirs):.4f} s a window")
    fast, same = ratio >= ASKED, difference <= TOLERANCE
    print(f"we are {ratio:.0f}x as fast; asked {ASKED}x: {'met' if fast else 'MISSED'}")
    print(
        f"largest difference of a logit: {difference:.1e} (of up to {size:.1f}): {'the same' if same else 'DIFFERENT'}"
    )
    return 0 if fast and same else 1


@torch.inference_mode()
def one_byte(model: GPT, window: dict[str, Any], position: int) -> np.ndarray:
    """Run the whole context of one scored byte; return its logits."""
    context = window["prompt"] + window["scored"][:position]
    tokens = torch.from_numpy(np.frombuffer(context, np.uint8).astype(np.int64))[None].to(model.head.weight.device)
    return model(tokens)[0, -1].cpu().numpy()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=288)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--windows", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="time one pass per byte at every position")
    arguments = parser.parse_args()
    sys.exit(main(arguments))
