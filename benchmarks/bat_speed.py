"""Seconds per BAT-reject set: one linear program per token, as published, against `oversmoothing.bat`.

Run from anywhere: ``python benchmarks/bat_speed.py [--positions 6] [--scored 5000]``. Both are measured in processor
time, on one thread, in one process, on random heads of 256 tokens, and on trained ones if results/ has them. Exits with
status 1 if a set differs or a target is missed: 1000 times faster up to rank 32, 300 times at 128, and less than 1 ms
at full rank.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import measuring
import numpy as np
import scipy
from keeping import keep
from tqdm import tqdm

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import reject_set
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.spectra import read_head
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.scores.metrics import entropy, softmax
from studies.metric_cost.measure import median_seconds

V = 256
RANKS = (4, 8, 12, 16, 32, 128, 512)
OURS = 100  # positions for our median; the linear programs run on the first few of them
SCORED = 50_000  # positions of the thesis: 100 windows of 500 bytes


def main(ranks: list[int], positions: int, scored: int, results: Path, kept: bool) -> int:
    """Print the table and the throughput; return the exit status."""
    use_threads(1)
    print(f"delta = ln(1/0.8), one thread, NumPy {np.__version__}, SciPy {scipy.__version__}")
    print(f"{'head':8} {'rank':>4} {'bits':>5} {'ours, ms':>9} {'LP, s':>8} {'ratio':>10}  {'same sets':9}  asked")
    passed = [compare(*case, positions, kept) for case in (*random_heads(ranks), *trained_heads(results))]
    throughput(scored)
    return 0 if all(passed) else 1


def random_heads(ranks: list[int]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield random heads W and distributions softmax(W h), from nearly certain to smooth."""
    for rank in ranks:
        yield "random", *example(rank, OURS)


def example(rank: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a random head (V, rank) and n distributions (n, V)."""
    rng = np.random.default_rng(rank)
    head = rng.standard_normal((V, rank))
    sharpness = rng.uniform(1.5, 6, (n, 1)) / np.sqrt(rank)
    return head, softmax(sharpness * rng.standard_normal((n, rank)) @ head.T)


def trained_heads(results: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the heads of the quick default's family and their distributions."""
    found = (results / "models").glob("bn*/weights.safetensors")
    for weights in sorted(found, key=lambda path: path.stat().st_size):
        logits = results / "logits" / f"{weights.parent.name}.parquet"
        if logits.exists():
            own = read_rows(logits, ["logits"], draw_rows(logits, OURS, seed=0))["logits"]
            own = np.random.default_rng(0).permutation(own)  # the first few come from all windows
            yield "trained", read_head(weights), softmax(own.astype(np.float64))


def compare(name: str, head: np.ndarray, p: np.ndarray, positions: int, kept: bool) -> bool:
    """Print one row, and keep it; return whether the sets are equal and the target is met."""
    basis, rank = prepare(head), head.shape[1]
    if rank > 32:  # seconds to half a minute each
        positions = 1 if basis.full else max(1, positions // 3)
    ours = [median_seconds(partial(reject_set, basis, row), repeats=5) for row in p]
    same, slow, ratios = 0, [], []
    for row in tqdm(p[:positions], desc=f"{name} {rank}", unit="position", leave=False, disable=None):
        fast = median_seconds(partial(reject_set, basis, row), repeats=25)
        published, seconds = measuring.timed(partial(reject_set_by_linear_programs, head, row))
        slow.append(seconds)
        ratios.append(slow[-1] / fast)
        sets = reject_set(basis, row)
        same += bool(((sets.rejected[0] == published) | sets.undecided[0]).all())
    least = 1000 if rank <= 32 else 300
    met = np.median(ours) < 1e-3 if basis.full else np.median(ratios) >= least
    asked = "< 1 ms" if basis.full else f">= {least:,}"
    print(
        f"{name:8} {rank:4} {entropy(p).mean():5.2f} {1e3 * np.median(ours):9.3f} {np.median(slow):8.2f} "
        f"{np.median(ratios):10,.0f}  {f'{same} of {len(slow)}':9}  {asked}: {'met' if met else 'MISSED'}",
        flush=True,
    )
    if kept:
        times = {"ours": (1e3 * np.median(ours), "ms"), "linear programs": (np.median(slow), "s")}
        counts = {"same": (same, "positions"), "positions": (len(slow), "positions")}
        keep("bat_speed", f"{name} head, rank {rank}", times | {"ratio": (np.median(ratios), "")} | counts)
    return same == len(slow) and bool(met)


def throughput(n: int) -> None:
    """Print how long the thesis's positions take at rank 32 on all cores."""
    head, p = example(32, n)
    basis = prepare(head)
    cores = use_threads(os.cpu_count() or 1)
    reject_set(basis, p[:100])
    _, seconds = measuring.timed(lambda: reject_set(basis, p), time.perf_counter)
    how = "measured" if n == SCORED else f"extrapolated from {n:,}"
    print(f"rank 32, {cores} cores: {n / seconds:,.0f} positions/s; {SCORED:,} in {seconds * SCORED / n:.0f} s ({how})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--positions", type=int, default=6, help="positions for the linear programs; fewer above rank 32"
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=list(RANKS), help="of the random heads")
    parser.add_argument(
        "--scored", type=int, default=SCORED // 10, help=f"positions for the throughput; {SCORED:,} in the thesis"
    )
    parser.add_argument("--results", type=Path, default=measuring.ROOT / "results", help="folder with trained heads")
    parser.add_argument("--keep", action="store_true", help="in resources/benchmarks")
    given = parser.parse_args()
    sys.exit(main(given.ranks, given.positions, given.scored, given.results, given.keep))
