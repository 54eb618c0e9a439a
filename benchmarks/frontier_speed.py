"""Cuts of a frontier: the tokens that each method leaves, here and by the warpers of transformers on the same rows.

Run from anywhere: ``python benchmarks/frontier_speed.py [rows] [vocabulary]``. Both run on one thread, in one process,
in alternation, and in the same chunks; the last line is the whole measurement, but for BAT, with its peak of memory.
Top-H differs because transformers takes the 100 most probable tokens for all of them, in the entropy too.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import measuring
import numpy as np
import torch
import yaml
from transformers.generation import logits_process as warpers

from oversmoothing.scores.cuts import Cut, Plane, measured
from oversmoothing.scores.decodings.temperature import temperature
from oversmoothing.scores.probabilities import softmax

CHUNK = 500  # rows, as many as a window has
PEERS: dict[str, Callable[[Any], Any]] = {
    "top-k": lambda value: warpers.TopKLogitsWarper(int(value)),
    "top-p": warpers.TopPLogitsWarper,
    "min-p": warpers.MinPLogitsWarper,
    "epsilon": warpers.EpsilonLogitsWarper,
    "eta": lambda value: warpers.EtaLogitsWarper(value, device="cpu"),
    "typical": warpers.TypicalLogitsWarper,
    "top-h": warpers.TopHLogitsWarper,
}


def main(rows: int = 20_000, vocabulary: int = 256, repeats: int = 3) -> None:
    """Print seconds of both for each method, the share of tokens on which they differ, and the whole measurement."""
    torch.set_num_threads(1)
    section = yaml.safe_load((measuring.ROOT / "workflow/studies/cut_frontier/config.yaml").read_text())["frontier"]
    section["methods"] = {name: values[::2][:8] for name, values in section["methods"].items()}
    print(f"{rows} rows of {vocabulary}, one thread, NumPy {np.__version__}, PyTorch {torch.__version__}")
    for name, peer in PEERS.items():
        if name not in section["methods"]:
            continue
        value = section["methods"][name][2]
        keep, other = Cut(name, value).keep, partial(left_by, peer(value))
        ours, theirs, differ = [], [], 0
        for _ in range(repeats):
            seconds, kept = timed(keep, rows, vocabulary)
            ours.append(seconds)
            seconds, others = timed(other, rows, vocabulary)
            theirs.append(seconds)
            differ = sum(int((a != b).sum()) for a, b in zip(kept, others, strict=True))
        ratio = np.median(theirs) / np.median(ours)
        print(
            f"{name:8s} here {np.median(ours):7.3f} s, transformers {np.median(theirs):7.3f} s, ratio {ratio:5.1f}; "
            f"{differ} of {sum(left.size for left in kept)} tokens differ"
        )
    _, seconds = measuring.timed(lambda: whole(rows, vocabulary, section | {"deltas": []}))
    tried = sum(max(1, len(values)) for values in section["methods"].values())
    print(
        f"whole: {len(section['methods'])} methods, {tried} settings, {len(section['temperatures'])} temperatures, "
        f"both orders: {seconds:.0f} s of processor, peak of memory {measuring.peak():,.0f} MB"
    )


def whole(rows: int, vocabulary: int, section: Mapping[str, Any]) -> None:
    """Measure all rows under a section `frontier` of a config."""
    for model, truth in chunks(rows, vocabulary):
        for _ in measured({"truth": Plane(truth, 0.9)}, softmax(model), None, section):
            pass


def chunks(rows: int, v: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield logits of a smoother model and of a truth about as confident as the thesis's, `CHUNK` rows at a time."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        truth = rng.standard_normal((n, v), dtype=np.float32) * rng.uniform(2.5, 16, (n, 1)).astype(np.float32)
        yield 0.6 * truth + rng.standard_normal((n, v), dtype=np.float32), truth


def timed(cut: Callable[[np.ndarray], np.ndarray], rows: int, v: int) -> tuple[float, list[np.ndarray]]:
    """Return the processor seconds of a cut over all rows, and the tokens that it leaves of the first two chunks."""
    seconds = 0.0
    kept: list[np.ndarray] = []
    for model, _ in chunks(rows, v):
        q = temperature(softmax(model), 1.5)
        left, taken = measuring.timed(partial(cut, q))
        seconds += taken
        kept += [left] if len(kept) < 2 else []
    return seconds, kept


def left_by(warper: Any, q: np.ndarray) -> np.ndarray:
    """Tokens that a warper of transformers leaves of distributions `q` (n, v), bool (n, v)."""
    left: torch.Tensor = warper(None, torch.from_numpy(np.log(q)))
    return torch.isfinite(left).numpy()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
