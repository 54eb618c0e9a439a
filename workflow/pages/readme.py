"""Numbers of README.md beside those that pages share."""

from pages.findings import added_after_long_training
from pages.kept import (
    TRUTHS,
    after_equal_steps,
    at_equal_loss,
    beside_fewer_bytes,
    kept,
    published,
)
from pages.scale import held_out, hits_at_fifth_size, million, none_above_by_smollm2, smallest, widest_at_equal_loss
from pages.vocabularies import rank_needed_at_first

__all__ = [  # what the source names of other pages
    "added_after_long_training",
    "held_out",
    "hits_at_fifth_size",
    "million",
    "none_above_by_smollm2",
    "rank_needed_at_first",
    "smallest",
    "widest_at_equal_loss",
]

level = kept("replication").across_seeds.over_windows().where(less=None, kind="family")
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
