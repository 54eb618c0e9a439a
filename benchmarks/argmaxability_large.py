"""Processor time and memory to find the argmaxable classes of large vocabularies, against one linear program per class.

Run from anywhere: ``python benchmarks/argmaxability_large.py``; ``--heads 8192x64 50304x768`` chooses others. Heads are
random, in float32, and fifty rows are planted in the hull of others. Each head is decided in a process of its own, on
one thread; "peak MB" is all the memory that the process had at most, with the head. The programs (HiGHS, as in
``argmaxability_speed.py``) are solved for a few classes drawn at random, and their time is extrapolated to all classes.
"""

import argparse
import math
import multiprocessing
import os
import re
from pathlib import Path

import measuring
import numpy as np
from argmaxability_speed import linear_programs

from oversmoothing.argmaxability.classes import argmaxable

PLANTED = 50
HEADS = {"8192x64": 3, "50304x16": 2, "50304x64": 1, "50304x768": 0}  # and how many classes the programs are solved for


def main() -> None:
    """Print one row per head."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heads", nargs="+", default=list(HEADS), metavar="VxD", help="tokens x width")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(
        f"{'head':10s} {'argmaxable':>10s} {'not':>6s} {'undecided':>9s} {'peak MB':>8s} {'s':>8s} {'LPs s':>9s} ratio"
    )
    for name in parser.parse_args().heads:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            status, seconds, peak = pool.apply(decide, (name,))
        counts = [(status == kind).sum() for kind in ("argmaxable", "unargmaxable", "undecided")]
        row = f"{name:10s} {counts[0]:10d} {counts[1]:6d} {counts[2]:9d} {peak:8.0f} {seconds:8.1f}"
        print(f"{row} {against_programs(name, status, seconds)}", flush=True)


def head(name: str) -> np.ndarray:
    """Make the head of a name."""
    v, d = map(int, name.split("x"))
    draw = np.random.default_rng((v, d))
    weights = draw.normal(size=(v, d)).astype(np.float32)
    weights[:PLANTED] = draw.dirichlet(np.ones(4 * d), PLANTED) @ weights[-4 * d :]
    return weights


def decide(name: str) -> tuple[np.ndarray, float, float]:
    """Return the status of each class, the processor time in seconds, and the peak memory of this process in MB."""
    weights = head(name)
    argmaxable(np.random.default_rng(0).normal(size=(2100, 4)))  # compiles
    found, seconds = measuring.timed(lambda: argmaxable(weights))
    # ru_maxrss would count what the parent held when it started this process.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    return found.status, seconds, int(peak.group(1)) / 1024 if peak else math.nan


def against_programs(name: str, status: np.ndarray, seconds: float) -> str:
    """Describe the time that linear programs would take, and whether they agree."""
    solved = HEADS.get(name, 1)
    if not solved:
        return f"{'not run':>9s}"
    classes = np.random.default_rng(1).choice(len(status), solved, replace=False)
    weights = head(name).astype(np.float64)
    found, taken = measuring.timed(lambda: linear_programs(weights, classes))
    theirs = taken * len(status) / len(classes)
    agree = "agree" if (found == (status[classes] == "argmaxable")).all() else "DIFFER"
    return f"{theirs:9.0f} {theirs / seconds:5.0f}  {agree} (extrapolated from {len(classes)} classes)"


if __name__ == "__main__":
    main()
