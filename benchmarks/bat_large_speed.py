"""Seconds per BAT-reject set at v = 50,304: `bat.large` against the dense solver and one linear program per token.

Run from anywhere: ``python benchmarks/bat_large_speed.py [--positions 3] [--tolerance 0.001]``. All are measured in
processor time, on one thread, on heads that the code makes itself: factors of the pointwise mutual information of a
bigram model with Zipf's frequencies, and distributions with entropies of 1 to 5.5 nats. The dense solver runs on one
position; the linear programs on a few tokens, of a vocabulary cut to 8,192 (the whole one takes minutes per token), and
their time is extrapolated to all open tokens of the whole vocabulary, as if a program took no longer there. Each
measurement has a process of its own, which reports its peak memory. Exits with status 1 if a target is missed: at
d = 64, 50 times faster than the dense solver and 500 times than the programs; at d = 768, a median below 60 s.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import scipy
from heads import distributions, head
from keeping import keep

from oversmoothing.bat import simplex
from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.bat.linear_programs import constraint_matrix, feasible
from oversmoothing.bat.reject import DELTA, reject_set
from oversmoothing.numerics.compiled import use_threads

V, CUT = 50_304, 8_192
DIMENSIONS, SMALL = (64, 768), 64
DENSE, PROGRAMS, SECONDS = 50, 500, 60  # targets: of small dimensions, and of others
SAMPLE = 2  # tokens for the linear programs


def main(v: int, dimensions: list[int], positions: int, tolerance: float, kept: bool) -> int:
    """Print the tables; return the exit status."""
    print(f"v = {v:,}, delta = ln(1/0.8), tolerance {tolerance:g}, one thread, NumPy {np.__version__}, ", end="")
    print(f"SciPy {scipy.__version__}, load {os.getloadavg()[0]:.1f}", flush=True)
    passed = []
    for d in dimensions:
        with tempfile.TemporaryDirectory() as folder:
            child("make", folder, v, d, positions)
            made = child("prepare", folder)
            print(f"d = {d}: prepare {made['seconds']:.1f} s, peak {made['peak']:,.0f} MB", flush=True)
            ours = child("large", folder, tolerance)
            for nats, seconds, low, high, undecided in ours["rows"]:
                print(f"  {nats:4.1f} nats: {seconds:7.2f} s, TBAT {low:.4f} to {high:.4f}, {undecided:,} undecided")
            print(f"  peak {ours['peak']:,.0f} MB, of which basis {ours['basis']:,.0f} MB", flush=True)
            times, widths = [row[1] for row in ours["rows"]], [row[3] - row[2] for row in ours["rows"]]
            measured = {"fastest": (min(times), "s"), "slowest": (max(times), "s"), "memory": (ours["peak"], "MB")}
            measured |= {"widest": (max(widths), "probability"), "positions": (positions, "positions")}
            seconds = float(np.median(times))
            if d <= SMALL:
                dense = child("dense", folder, tolerance)
                programs = child("programs", folder)
                measured |= {"dense": (dense["seconds"], "s"), "programs": (programs["seconds"], "s")}
                passed += [
                    verdict("dense solver, one position", dense["seconds"], seconds, DENSE),
                    verdict(
                        f"linear programs, {SAMPLE} tokens at v = {min(v, CUT):,}",
                        programs["seconds"],
                        seconds,
                        PROGRAMS,
                    ),
                ]
            else:
                passed.append(seconds < SECONDS)
                print(f"  median {seconds:.1f} s, asked < {SECONDS} s: {'met' if passed[-1] else 'MISSED'}")
            if kept:
                keep("bat_large_speed", f"{v} tokens, {d} dimensions", measured)
    return 0 if all(passed) else 1


def verdict(name: str, theirs: float, ours: float, least: int) -> bool:
    """Print a ratio; return whether the target is met."""
    met = theirs >= least * ours
    print(
        f"  {name}: {theirs:,.0f} s a position, ratio {theirs / ours:,.0f}, "
        f"asked >= {least}: {'met' if met else 'MISSED'}",
        flush=True,
    )
    return met


def child(step: str, *arguments: Any) -> dict[str, Any]:
    """Run a step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{step} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def make(folder: Path, v: int, d: int, positions: int) -> dict[str, Any]:
    """Write a head and distributions."""
    generator = np.random.default_rng(d)
    weights = head("ppmi", v, d, generator)
    np.save(folder / "head.npy", weights.astype(np.float32))
    np.save(folder / "p.npy", distributions(weights, np.linspace(1, 5.5, positions), generator))
    return {}


def prepared(folder: Path) -> dict[str, Any]:
    """Write the basis."""
    weights = np.load(folder / "head.npy")
    basis, seconds = measuring.timed(lambda: prepare(weights))
    used = measuring.peak()
    np.save(folder / "basis.npy", basis.columns)
    return {"seconds": seconds, "peak": used}


def large(folder: Path, tolerance: float) -> dict[str, Any]:
    """Solve each position with `reject_set`."""
    basis, rows = Basis(np.load(folder / "basis.npy")), []
    for p in np.load(folder / "p.npy"):
        sets, seconds = measuring.timed(partial(reject_set, basis, p, DELTA, tolerance))
        nats = -float(p @ np.log(np.maximum(p, 1e-300)))
        rows.append([nats, seconds, *(float(bound[0]) for bound in sets.mass), int(sets.undecided.sum())])
    return {"rows": rows, "peak": measuring.peak(), "basis": basis.columns.nbytes / 1e6}


def dense(folder: Path, tolerance: float) -> dict[str, Any]:
    """Solve the middle position with one tableau, as `reject_set` does for small vocabularies."""
    use_threads(1)
    columns, p = np.load(folder / "basis.npy"), np.load(folder / "p.npy")
    normals = np.zeros((1, columns.shape[1]))
    few = columns[:100].copy(), normals, p[:1, :100] / p[:1, :100].sum()
    simplex.solve(*few, np.exp(DELTA), 1.0)  # compiles
    whole = columns, normals, p[len(p) // 2][None].copy()
    _, seconds = measuring.timed(lambda: simplex.solve(*whole, np.exp(DELTA), tolerance))
    return {"seconds": seconds}


def programs(folder: Path) -> dict[str, Any]:
    """Time a few linear programs of a cut vocabulary; extrapolate to all open tokens of the whole one."""
    p = np.load(folder / "p.npy")
    whole = p[len(p) // 2]
    kept = np.argsort(-whole, kind="stable")[:CUT]
    constraints = constraint_matrix(np.load(folder / "head.npy").astype(np.float64)[kept])
    cut = whole[kept] / whole[kept].sum()
    tokens = np.linspace(10, len(kept) // 10, SAMPLE, dtype=int)
    _, seconds = measuring.timed(lambda: [feasible(constraints, cut, DELTA, token) for token in tokens.tolist()])
    return {"seconds": seconds / len(tokens) * int(((whole > 0) & (whole < -np.expm1(-DELTA))).sum())}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step, folder, *rest = sys.argv[2:]
        steps = {"make": make, "prepare": prepared, "large": large, "dense": dense, "programs": programs}
        numbers = [float(value) if "." in value or "e" in value else int(value) for value in rest]
        print(json.dumps(steps[step](Path(folder), *numbers)))  # type: ignore[operator]
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--vocabulary", type=int, default=V)
        parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
        parser.add_argument("--positions", type=int, default=3)
        parser.add_argument("--tolerance", type=float, default=1e-3, help="mass that may stay undecided")
        parser.add_argument("--keep", action="store_true", help="in resources/benchmarks")
        given = parser.parse_args()
        sys.exit(main(given.vocabulary, given.dimensions, given.positions, given.tolerance, given.keep))
