"""Variation of each metric between trainings, as a share of the larger of two values.

Run from anywhere: ``python benchmarks/run_to_run.py RESULTS``, with the results folder of a config with several `seeds`
that has tables/claims.csv. The table has a row per key of `claims.run_to_run`: the largest relative difference between
two seeds at each rank and overall, under pure sampling; the sd of one training, pooled over the ranks; the difference
that 95 % of pairs of trainings then stay within (Student's t); and the largest difference under another decoding. All
models are run over the same windows against the same truths, so the differences come from the training.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))

from oversmoothing.claims.added import of_studies
from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.evidence import Margin, Run
from oversmoothing.claims.members import Member, members
from oversmoothing.scores.catalogue.metrics import METRICS
from oversmoothing.store.parquet import read_table
from plan import studies

DYNAMICS = ("singular_entropy", "head_input_anisotropy")
NO_CHANCE = Chance(0, 0, {})  # nothing is resampled
Reader = Callable[[Member], Sequence[Value]]


def main(results: Path) -> None:
    """Print the table, followed by what the run lacks."""
    names = sorted(path.stem for path in (results / "scores/tto").glob("bn*-s*.parquet"))
    ranks = {name: int(re.findall("[0-9]+", name)[0]) for name in names}
    facts = [
        {"model": name, "kind": "family", "rank": rank, "role": rank, "training": name} for name, rank in ranks.items()
    ]
    family = members(facts, "family")
    if not family or len(family[0].models) < 2:
        sys.exit(f"{results}: it takes scores of two `seeds`, and there are those of {names}")
    print(f"| metric | {' | '.join(map(str, family))} | largest | sd | 95 % of pairs | other decodings |")
    print(f"|:---|{'---:|' * (len(family) + 4)}")
    lacking = []
    for metric, pure, decoded in readers(results, facts):
        try:
            by_rank = [pure(member) for member in family]
            others = [value for member in family for value in decoded(member)]
        except Missing as reason:
            lacking.append(f"{metric}: {reason}")
            continue
        whole = [value for values in by_rank for value in values]
        sd, reach = spread(whole)
        cells = [*map(largest, by_rank), largest(whole), sd, reach, largest(others)]
        print(f"| {metric} | {' | '.join('-' if math.isnan(cell) else f'{cell:.3f}' for cell in cells)} |")
    print("\n".join(["", *lacking]))


def readers(results: Path, facts: list[dict]) -> Iterator[tuple[str, Reader, Reader]]:
    """Yield each key and the functions that read a member's values under pure sampling and under other decodings."""
    files: dict[tuple[str, str], str | Path] = {
        (path.parent.name, path.stem): path for of in ("*", "scores/*") for path in results.glob(f"{of}/*.parquet")
    }
    files |= {("history", path.parent.name): path for path in results.glob("models/*/history.parquet")}
    scored = read_table(files["tto", facts[0]["model"]], ["decoding"])["decoding"]
    others = [name for name in scored.unique().to_pylist() if name != "pure"]
    run = Run(files, facts, ["pure", *others], NO_CHANCE)

    def decodings(read: Callable, metric: str) -> tuple[Reader, Reader]:
        return (
            lambda member: [read(metric, member)],
            lambda member: [read(metric, member, decoding) for decoding in others],
        )

    def decoded(margin: Margin, member: Member) -> list[Value]:
        return [value for name in others for value in margin.decoded(run, member, name)] if margin.decoded else []

    yield "losses", lambda member: [run.loss(member)], nothing
    yield "accuracies", lambda member: [run.accuracy(member)], nothing
    for metric in METRICS:
        yield metric, *decodings(run.score, metric)
    yield "dynamics", lambda member: [at_the_end(results, measure, member) for measure in DYNAMICS], nothing
    names = [name for name in studies.there() if (studies.FOLDER / name / "claims.py").is_file()]
    for metric, margin in of_studies(names).margins.items():
        yield metric, partial(margin.values, run), partial(decoded, margin)


def at_the_end(results: Path, measure: str, member: Member) -> Value:
    """Return a measure of the last snapshot of each training."""
    path = results / "tables/along_training.csv"
    if not path.exists():
        raise Missing(f"there is no {path}")
    table = pd.read_csv(path)
    ends = table[(table.measure == measure) & (table.step == table.groupby("model").step.transform("max"))]
    values = ends.set_index("model").value
    return Value(tuple(float(values[model]) for model in member.models), member.trainings, "dynamics")


def nothing(_: Member) -> list[Value]:
    """Return no values: the metric has no decodings."""
    return []


def largest(values: Sequence[Value]) -> float:
    """Return the largest difference of two seeds, as a share of the larger; NaN if there are no values."""
    shares = [
        abs(a - b) / (max(scale(value, a), scale(value, b)) or 1.0)
        for value in values
        for a, b in combinations(value.means, 2)
    ]
    return max(shares, default=math.nan)


def scale(value: Value, mean: float) -> float:
    """Return what a margin is a share of: the number itself, or its square root for a count of bytes."""
    return math.sqrt(mean) if value.kind == "unargmaxable" else abs(mean)


def spread(values: Sequence[Value]) -> tuple[float, float]:
    """Return the sd of a training as a share of the mean, pooled, and the difference that 95 % of pairs stay within."""
    own = [value for value in values if value.mean]
    if not own:
        return 0.0, 0.0
    variances = [np.var(value.means, ddof=1) / scale(value, value.mean) ** 2 for value in own]
    freedom = sum(len(value.means) - 1 for value in own)
    sd = math.sqrt(float(np.mean(variances)))
    return sd, math.sqrt(2) * sd * float(scipy.stats.t.ppf(0.975, freedom))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
