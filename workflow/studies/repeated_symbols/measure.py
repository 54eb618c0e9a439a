"""Train one arm on the language of repeated symbols, for each vocabulary: learning rates first, then all seeds."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import torch
from tqdm import tqdm

from oversmoothing.jobs import Job, run
from oversmoothing.models.device import make_deterministic
from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.repeated_symbols.arms import vocabularies
from studies.repeated_symbols.learn import losses

LOSSES = pa.schema(
    [
        ("vocabulary", pa.int32()),
        ("seed", pa.int64()),
        ("learning_rate", pa.float64()),
        ("trial", pa.bool_()),  # of a learning rate, with a seed that is in no comparison
        ("step", pa.int32()),
        ("draws", pa.float64()),  # of a symbol, in the mean
        ("loss", pa.float64()),  # nats
    ]
)


def main(job: Job) -> None:
    """Write the losses of all trainings of an arm."""
    make_deterministic(torch.device("cpu"), 1)
    settings, name = job.params.settings, job.wildcards.arm
    every = vocabularies(name, settings)
    runs = len(every) * (len(settings["rates"]) + len(settings["seeds"]))
    with tqdm(total=runs, unit="run", disable=None) as bar, subnormals_as_zero():
        rows = [{"vocabulary": v, **row} for v in every for row in trainings(name, v, settings, bar)]
    write_table(job.output[0], pa.Table.from_pylist(rows, schema=LOSSES), provenance(settings, arm=name))


@contextmanager
def subnormals_as_zero() -> Iterator[None]:
    """Take subnormal numbers for 0: moments of symbols that are not drawn fall to them, and they are slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def trainings(name: str, v: int, settings: Mapping[str, Any], bar: tqdm) -> Iterator[dict[str, Any]]:
    """Yield rows of `LOSSES` for one vocabulary: a trial of each learning rate, then each seed with the best one.

    The best needs the fewest draws to the threshold; where none comes to it, it has the lowest last loss. A trial ends
    where a rate before it has come to the threshold.
    """

    def train(seed: int, rate: float, most: float, **facts: Any) -> list[dict[str, Any]]:
        bar.set_description(f"{name}, {v} symbols, rate {rate:g}")
        keys = ("step", "draws", "loss")
        run = [dict(zip(keys, row, strict=True)) for row in losses(name, v, seed, rate, settings, most)]
        bar.update()
        return [{"seed": seed, "learning_rate": rate, **facts, **row} for row in run]

    best = (math.inf, math.inf, math.nan)
    for rate in settings["rates"]:
        trial = train(settings["trial_seed"], rate, best[0], trial=True)
        draws, loss = ([row[key] for row in trial] for key in ("draws", "loss"))
        needed = at_loss(loss, draws, settings["threshold"] * math.log(v))
        best = min(best, (math.inf if math.isnan(needed) else needed, loss[-1], rate))
        yield from trial
    for seed in settings["seeds"]:
        yield from train(seed, best[2], math.inf, trial=False)


if __name__ == "__main__":
    run(main)
