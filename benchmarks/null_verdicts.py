"""How often verdicts over seeds are wrong by chance, and how often they tell what was measured.

Run from anywhere: ``python benchmarks/null_verdicts.py [--tables 1000]``. Of each claim that a kept run with several
seeds tests, by each truth if it depends on them, it makes contrasts that vary and go together as the kept ones do: a
made seed is a mix of the deviations of the kept seeds, with normal weights, and a made text adds its error. First each
contrast has its mean at its bound, so that any decision is a wrong one; then as it was measured. Exits with 1 if a
claim is decided wrongly in more than 5 % of tables, but for what so many tables leave to chance.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import measuring
import numpy as np
from keeping import keep

from oversmoothing.claims.catalogue import CLAIMS
from oversmoothing.claims.claim import Claim, judge_by_truth
from oversmoothing.claims.contrast import LEAST, LEVEL, Contrast, Outcome, decide
from oversmoothing.claims.measured import WINDOWS, Measured, Rank
from oversmoothing.tables.record import is_record, read_tables
from studies.across_seeds.claims import CLAIMS as OF_SEEDS
from studies.along_training.claims import CLAIMS as OF_TRAINING
from studies.argmaxable_classes.claims import CLAIMS as OF_CLASSES
from studies.byte_by_byte.claims import CLAIMS as OF_BYTES
from studies.forced_part.claims import CLAIMS as OF_FORCED
from studies.imposed_rank.claims import CLAIMS as OF_IMPOSED
from studies.representation_ranks.claims import CLAIMS as OF_RANKS
from studies.sample_quality.claims import CLAIMS as OF_SAMPLES
from studies.saturation.claims import CLAIMS as OF_SATURATION

KEPT = measuring.ROOT / "resources/studies"
STAND_INS = {288: 512}  # the thesis's rank that ours stands for


def main(tables: int, kept: bool) -> None:
    """Print a line per claim and kept run; exit with 1 if one is decided wrongly too often."""
    most = LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / tables)
    print(
        f"{tables} tables each\n{'claim':56}{'run':16}contrasts  wrong at the bound  decided, of contrasts, as measured"
    )
    worst, found = 0.0, dict[str, list[tuple[str, float, float]]]()
    for i, (run, claim, truth, contrasts) in enumerate(of_kept_runs()):
        draw = np.random.default_rng([i, 7])
        at_bound = [replace(one, values=tuple(np.subtract(one.values, one.mean) + one.nearer)) for one in contrasts]
        wrong = np.mean([any(of != Outcome.OPEN for of in decide(made(at_bound, draw))) for _ in range(tables)])
        told = np.mean([np.mean([of != Outcome.OPEN for of in decide(made(contrasts, draw))]) for _ in range(tables)])
        worst = max(worst, float(wrong))
        by = f"{claim.id} ({truth})" if truth else claim.id
        print(f"{by:56}{run:16}{len(contrasts):9}{100 * wrong:18.1f} %{100 * told:35.0f} %", flush=True)
        found.setdefault(run, []).append((by, float(wrong), float(told)))
    print(f"worst: {100 * worst:.1f} %")
    for run, own in found.items() if kept else ():
        sentences = {by.partition(" ")[0] for by, _, _ in own}
        sizes = {"sentences": (len(sentences), "sentences"), "tables": (tables, "tables")}
        decided = {f"decided: {name}": (told, "share of contrasts") for name, _, told in own}
        keep("null_verdicts", run, {"wrong": (max(wrong for _, wrong, _ in own), "share of tables")} | sizes | decided)
    sys.exit(worst > most)


def of_kept_runs() -> Iterator[tuple[str, Claim, str, Sequence[Contrast]]]:
    """Yield each claim that a kept run tests with several seeds, its truth, if it has one, and its contrasts."""
    for run, claims in (
        ("replication", [*CLAIMS, *OF_SEEDS, *OF_SAMPLES, *OF_BYTES, *OF_CLASSES, *OF_RANKS]),
        ("seeds", [*CLAIMS, *OF_SEEDS]),
        ("smollm2", [*CLAIMS, *OF_SEEDS, *OF_FORCED]),
        ("godey", [*OF_TRAINING, *OF_SATURATION, *OF_IMPOSED]),
    ):
        paths = [path for path in (KEPT / run / "tables").glob("*.csv") if is_record(path)]
        tables = read_tables([*paths, *(KEPT / run / "tables").glob(f"{WINDOWS}.parquet")])
        ranks = sorted({int(rank) for rank in tables["oversmoothing"]["rank"].dropna()})
        measured = Measured(tables, [Rank(rank, STAND_INS.get(rank, rank)) for rank in ranks])
        yield from several(run, claims, measured)


def several(
    run: str, claims: Sequence[Claim], measured: Measured
) -> Iterator[tuple[str, Claim, str, Sequence[Contrast]]]:
    """Yield the claims whose contrasts have several seeds, as many in each, by truth."""
    for claim in claims:
        mean, by_truth = judge_by_truth(claim, measured)
        for truth, found in (by_truth or {"": mean}).items():
            seeds = {len(one.values) for one in found.contrasts}
            if len(seeds) == 1 and seeds.pop() >= LEAST and not any(one.exact for one in found.contrasts):
                yield run, claim, truth, found.contrasts


def made(contrasts: Sequence[Contrast], draw: np.random.Generator) -> list[Contrast]:
    """Return contrasts with the same means and bounds, of seeds that vary and go together as theirs do."""
    values = np.array([one.values for one in contrasts])
    means, seeds = values.mean(axis=1, keepdims=True), values.shape[1]
    mixed = (values - means) @ draw.normal(size=(seeds, seeds)) / math.sqrt(seeds - 1)
    means = means + [[draw.normal(0, one.error)] for one in contrasts]
    return [replace(one, values=tuple(row)) for one, row in zip(contrasts, means + mixed, strict=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=1000, help="made of each claim")
    parser.add_argument("--keep", action="store_true", help="in resources/benchmarks")
    given = parser.parse_args()
    main(given.tables, given.keep)
