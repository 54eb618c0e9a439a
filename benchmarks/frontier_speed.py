"""Cuts of a frontier: the tokens that each method leaves, here and by the warpers of transformers on the same rows.

Run from anywhere: ``python benchmarks/frontier_speed.py [rows] [vocabulary]``. Both run on one thread, in one process,
in alternation, and in the same chunks; the last line is the whole measurement, but for BAT, with its peak of memory.
Top-H differs because transformers takes the 100 most probable tokens for all of them, in the entropy too.
"""

import os

# One thread for both; BLAS reads this when NumPy is first imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import resource  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from transformers.generation import logits_process as warpers  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

from oversmoothing.scores.decodings.temperature import temperature  # noqa: E402
from oversmoothing.scores.probabilities import softmax  # noqa: E402
from studies.cut_frontier.cuts import Cut  # noqa: E402
from studies.cut_frontier.measure import Plane, measured  # noqa: E402

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
    section = yaml.safe_load((ROOT / "workflow/studies/cut_frontier/config.yaml").read_text())["frontier"]
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
    before = time.process_time()
    for model, truth in chunks(rows, vocabulary):
        for _ in measured({"truth": Plane(truth, 0.9)}, softmax(model), None, section | {"deltas": []}):
            pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tried = sum(max(1, len(values)) for values in section["methods"].values())
    print(
        f"whole: {len(section['methods'])} methods, {tried} settings, {len(section['temperatures'])} temperatures, "
        f"both orders: {time.process_time() - before:.0f} s of processor, peak of memory {peak:,.0f} MB"
    )


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
        before = time.process_time()
        left = cut(q)
        seconds += time.process_time() - before
        kept += [left] if len(kept) < 2 else []
    return seconds, kept


def left_by(warper: Any, q: np.ndarray) -> np.ndarray:
    """Tokens that a warper of transformers leaves of distributions `q` (n, v), bool (n, v)."""
    left: torch.Tensor = warper(None, torch.from_numpy(np.log(q)))
    return torch.isfinite(left).numpy()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
