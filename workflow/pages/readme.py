"""Numbers of README.md beside those that pages share."""

import math

from pages.kept import (
    TRUTHS,
    after_equal_steps,
    at_equal_loss,
    at_equal_validation_loss,
    beside_fewer_bytes,
    kept,
    published,
    verdicts,
)
from pages.scale import largest, leaks_by_rung, million, none_above_by_smollm2, smallest, widest_at_equal_loss
from studies.size_ladder.parts import OWN

__all__ = [  # what the source names of other pages
    "largest",
    "million",
    "none_above_by_smollm2",
    "smallest",
    "widest_at_equal_loss",
]

_by_own = [number.low for rank in (4, 8, 16) for number in leaks_by_rung(rank, OWN) if not math.isnan(number.low)]
intervals_above = sum(low > 0.007 for low in _by_own), len(_by_own)
level = kept("replication").across_seeds.over_windows().where(less=None, kind="family")
and_not_tested = f", {verdicts['not tested here']} not tested" * bool(verdicts["not tested here"])
highest_at_equal_validation_loss = max(number.high for number in at_equal_validation_loss.all("tto"))
default_tto = kept("default").oversmoothing.where("tto").by("rank")
most_goes_at_equal_loss = all(  # of what a rank leaks more after equal steps, at each rank that is shown to leak more
    beside("tto", rank, truth).high < after_equal_steps("tto", rank, truth).low / 2
    for beside in (at_equal_loss, beside_fewer_bytes)
    for rank in (4, 8, 12, 16)
    for truth in TRUTHS
)


def _theirs(rank: int, truth: str) -> float:
    table = published.table_4_1.by("metric", "model", "truth")
    return table("tto", 512 if rank == 288 else rank, truth).value


beside_the_thesis = [
    (
        f"{rank} (thesis: 512)" if rank == 288 else rank,
        level("tto", rank, "truth"),
        _theirs(rank, "NanoGPT 300M"),
        level("tto", rank, "smollm2"),
        _theirs(rank, "EvaByte"),
    )
    for rank in (4, 8, 12, 16, 32, 128, 288)
]
