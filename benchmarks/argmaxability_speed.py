"""Time to find the argmaxable classes: one linear program per class (HiGHS) against `oversmoothing.argmaxability`.

Run from anywhere: ``python benchmarks/argmaxability_speed.py [--rows 256] [--ranks 4 8]``. Both run on one thread, in
one process, on the same heads: random ones, and those of trained models if results/ has any. Above 100 dimensions
only every eighth class is solved by linear programming and the time is extrapolated; the table marks these rows.
"""

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import measuring
import numpy as np
from safetensors.numpy import load_file
from scipy.optimize import linprog

from oversmoothing.argmaxability.classes import argmaxable, reachable
from oversmoothing.models.spectra import read_head

REPEATS = 11
RANKS = (4, 8, 12, 16, 32, 128)
SAMPLE = 8  # every eighth class above this many dimensions:
LARGE = 100


def main(v: int, ranks: list[int], results: Path) -> None:
    """Print one row per head."""
    print(f"{'head':24s} {'dim':>4s} {'unargmaxable':>12s} {'exact ms':>9s} {'LPs s':>8s} {'ratio':>7s}  sets")
    for name, weights in heads(v, ranks, results):
        argmaxable(weights)  # compiles
        times = []
        for _ in range(REPEATS):
            found, seconds = measuring.timed(partial(argmaxable, weights), time.perf_counter)
            times.append(seconds)
        exact = found.argmaxable
        ours = float(np.median(times))
        v = len(weights)
        classes = np.arange(0, v, SAMPLE if weights.shape[1] > LARGE else 1)
        by_programs, taken = measuring.timed(partial(linear_programs, weights, classes), time.perf_counter)
        theirs = taken * v / len(classes)
        same = "identical" if (by_programs == exact[classes]).all() else "DIFFERENT"
        print(
            f"{name:24s} {weights.shape[1]:4d} {(~exact).sum():12d} {ours * 1e3:9.2f} {theirs:8.2f} "
            f"{theirs / ours:7.0f}  {same}{'' if len(classes) == v else f' (1 class in {SAMPLE})'}",
            flush=True,
        )


def heads(v: int, ranks: list[int], results: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield random heads and those of trained models, the latter also restricted by their LayerNorm."""
    for rank in ranks:
        yield "random", np.random.default_rng(rank).normal(size=(v, rank))
    for path in sorted((results / "models").glob("bn*-s1337/weights.safetensors")):
        head = read_head(path).astype(np.float64)
        yield path.parent.name, head
        yield f"{path.parent.name} reachable", reachable(head, load_file(path)["norm.weight"])


def linear_programs(weights: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Decide each class by the radius of the largest ball in its cell, within a box of 100."""
    v, d = weights.shape
    found = []
    for c in classes:
        differences = np.delete(weights, c, axis=0) - weights[c]
        solution = linprog(
            np.append(np.zeros(d), -1.0),
            A_ub=np.column_stack((differences, np.linalg.norm(differences, axis=1))),
            b_ub=np.zeros(v - 1),
            bounds=[(-100, 100)] * d + [(None, None)],
            method="highs",
        )
        found.append(-solution.fun > 1e-6)
    return np.array(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=256, help="of the random heads")
    parser.add_argument("--ranks", type=int, nargs="+", default=list(RANKS), help="of the random heads")
    parser.add_argument("--results", type=Path, default=measuring.ROOT / "results", help="folder with trained heads")
    arguments = parser.parse_args()
    main(arguments.rows, arguments.ranks, arguments.results)
