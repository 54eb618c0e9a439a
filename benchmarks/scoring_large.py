"""Scoring at a vocabulary of 50,304: against matrix products, against a plain loop over rows, and its memory.

Run from anywhere: ``python benchmarks/scoring_large.py [--windows 3] [--vocabulary 50304]``. A model of width 1,024 is
scored against a truth of width 2,560 in windows of 100 positions. Both heads are random, in float16; by their bias
tokens are as rare as in a text. Times are processor seconds of one thread:

- products: hidden states times heads that are held in float32, which no scoring can do without;
- logits: the same, from heads that stay in their files (`oversmoothing.models.logit_files`), with the bias;
- a decoding: both softmaxes and the five metrics (`oversmoothing.scores.metrics.score_window`), then all five of the
  default;
- plain loop: the five metrics as in their formulas, from probabilities, one row at a time in float64.

The memory is the largest by which a process grows that only rebuilds and scores, mapped files included. Exits with
status 1 if scoring under pure sampling takes more than three times as long as the products, if a value differs from the
plain loop's by more than 1e-6, or if the process grows by 1 GB.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import measuring
import numpy as np
import torch
from metrics_speed import FIVE, row_loop
from safetensors.torch import load_file

from oversmoothing.models.logit_files import WEIGHT, WindowLogits, head_file, rebuilt, save_head
from oversmoothing.scores.catalogue.metrics import TAU
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.metrics import entropy, nucleus, score_window, softmax

POSITIONS, WIDTHS = 100, {"model": 1024, "truth": 2560}
ASKED, TOLERANCE, LIMIT = 3, 1e-6, 1000  # times the products; of a value; MB
DENSE = 10  # rows of a window that the plain loop takes
DEFAULT: list[dict[str, Any]] = [
    {"name": "pure"},
    {"name": "greedy"},
    {"name": "top-k", "k": 5},
    {"name": "top-p", "p": 0.9},
    {"name": "temperature", "temperature": 0.8},
]
LATER: list[dict[str, Any]] = [
    {"name": "min-p", "min_p": 0.05},
    {"name": "typical", "mass": 0.95},
    {"name": "eta", "epsilon": 0.0009},
]

T = TypeVar("T")
Times = dict[str, list[float]]


def main(windows: int, vocabulary: int) -> int:
    """Print times and memory; return the exit status."""
    torch.set_num_threads(1)
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        write_heads(Path(folder), vocabulary)
        grown = {count: growth(folder, count, vocabulary) for count in (1, windows)}
        weights = {name: load_file(head_file(Path(folder, name)))[WEIGHT].float() for name in WIDTHS}
        difference = max(compare(window, Path(folder), weights, times) for window in range(windows))
    print(
        f"{vocabulary:,} tokens, widths {WIDTHS['model']:,} and {WIDTHS['truth']:,}, {windows} x {POSITIONS} positions"
    )
    cost = {name: float(np.median(values)) / POSITIONS * 1e3 for name, values in times.items()}
    for name, value in cost.items():
        print(f"{name:30s} {value:8.2f} ms a position {value / cost['products']:7.2f} times the products")
    ratio = cost["pure"] / cost["products"]
    fast, same, small = ratio <= ASKED, difference <= TOLERANCE, max(grown.values()) < LIMIT
    print(f"pure: {ratio:.2f} times the products; asked {ASKED}: {'met' if fast else 'MISSED'}")
    print(f"largest difference of a value: {difference:.1e}: {'the same' if same else 'DIFFERENT'}")
    for count, value in grown.items():
        print(f"memory of a loop over {count} windows: {value} MB more than before it")
    print(f"{'under' if small else 'NOT UNDER'} {LIMIT} MB")
    return 0 if fast and same and small else 1


def compare(window: int, heads: Path, weights: dict[str, torch.Tensor], times: Times) -> float:
    """Time everything on one window; return the largest difference of a value from that of the plain loop."""
    hidden = states(window)
    timed(times, "products", lambda: [hidden[name] @ weights[name].T for name in WIDTHS])
    logits = timed(times, "logits, heads in their files", lambda: rebuild(window, heads))
    timed(times, "softmax of both", lambda: (softmax(logits.model), softmax(logits.truths["truth"])))
    timed(times, "five decodings together", lambda: score(logits, DEFAULT))
    q, p = softmax(logits.model[:DENSE]), softmax(logits.truths["truth"][:DENSE])
    difference = 0.0
    for entry in DEFAULT + LATER:
        values = timed(times, entry["name"], partial(score, logits, [entry]))
        decoded = decoder(entry)(q).astype(float)
        exact = timed(times, f"plain loop, {entry['name']}", partial(row_loop, decoded, p.astype(float)))
        times[f"plain loop, {entry['name']}"][-1] *= POSITIONS / DENSE
        for own, expected in zip(values, exact, strict=True):
            difference = max(difference, float(abs(own[:DENSE] - expected).max()))
    if window == 0:
        sizes = nucleus(p).sum(axis=1)
        print(f"truth: {entropy(p).mean():.1f} bits on average, nucleus of {sizes.min()} to {sizes.max()} tokens")
    return difference


def write_heads(folder: Path, vocabulary: int) -> None:
    """Write a truth's head, and a model's that is its first columns; by their bias tokens are rare."""
    truth = torch.randn(vocabulary, WIDTHS["truth"], generator=torch.Generator().manual_seed(0)).half().float()
    bias = -torch.log(torch.randperm(vocabulary, generator=torch.Generator().manual_seed(1)) + 1.0).half().float()
    for name, width in WIDTHS.items():
        save_head(head_file(folder / name), truth[:, :width].numpy(), bias.numpy(), {})


def states(window: int) -> dict[str, torch.Tensor]:
    """Return hidden states of one window: from nearly flat to confident, the model's similar to the truth's."""
    draw = torch.Generator().manual_seed(1000 + window)  # not the seed of the heads
    truth = torch.randn(POSITIONS, WIDTHS["truth"], generator=draw) / WIDTHS["truth"] ** 0.5
    truth *= 1 + 5 * torch.rand(POSITIONS, 1, generator=draw)
    return {"truth": truth, "model": 1.2 * truth[:, : WIDTHS["model"]]}


def rebuild(window: int, heads: Path) -> WindowLogits:
    """Return the logits of one window, with the heads in a folder."""
    hidden = states(window)
    model, truth = (rebuilt(heads / name, hidden[name].numpy()) for name in ("model", "truth"))
    return WindowLogits(window, model, {"truth": truth})


def score(logits: WindowLogits, decodings: list[dict[str, Any]]) -> list[np.ndarray]:
    """Return the five metrics of one window under the last of some decodings."""
    decoders = {entry["name"]: decoder(entry) for entry in decodings}
    values = score_window(logits, decoders, FIVE, TAU)["truth"]
    return [values[metric][decodings[-1]["name"]] for metric in FIVE]


def growth(folder: str, windows: int, vocabulary: int) -> int:
    """Return by how many MB a process grows, at most, that rebuilds and scores some windows."""
    command = [sys.executable, __file__, "--loop", folder, "--windows", str(windows), "--vocabulary", str(vocabulary)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def loop(folder: Path, windows: int, vocabulary: int) -> None:
    """Rebuild and score some windows; print by how many MB the process grew, at most."""
    before = memory("VmRSS")
    for window in range(windows):
        score(rebuild(window, folder), DEFAULT + LATER)
    print((memory("VmHWM") - before) // 1000)


def memory(field: str) -> int:
    """Return a figure of this process in kB: VmRSS, what is in memory, or VmHWM, its highest value."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def timed(times: Times, name: str, function: Callable[[], T]) -> T:
    """Return a call's result; add its processor seconds to the times of that name."""
    result, seconds = measuring.timed(function)
    times.setdefault(name, []).append(seconds)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument("--vocabulary", type=int, default=50_304)
    parser.add_argument("--loop", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.loop:
        loop(arguments.loop, arguments.windows, arguments.vocabulary)
    else:
        sys.exit(main(arguments.windows, arguments.vocabulary))
