"""Numbers of docs/tokens.md beside those that pages share."""

from oversmoothing.numerics.equal_loss import at_loss
from oversmoothing.tables.quantities import percent
from pages.kept import kept

LAST = 800  # the last step of these trainings
RANKS = (16, 64, 256)
run = kept("subword")
forced, course = run.forced, run.along_training.by("measure", "rank", "step")

by_rank = [
    (
        rank,
        run.losses("loss_per_byte", rank),
        *(run.oversmoothing(measure, rank) for measure in ("tto", "kl", "tbat")),
    )
    for rank in RANKS
]
forced_by_rank = [
    (
        rank,
        *(forced(measure, rank) for measure in ("kl", "forced", "rest")),
        percent(forced("share", rank)),
        *(forced(measure, rank) for measure in ("tto", "nearest_tto")),
    )
    for rank in RANKS
]
unargmaxable = run.argmaxability("unargmaxable", 16, condition="free")
unargmaxable_or_undecided = unargmaxable + run.argmaxability("undecided", 16, condition="free")
widest_gap = f"{max(forced.all('gap', RANKS)):.0e}".replace("e-0", "e-")
other_heads_force = run.forced_heads.where("forced", 16).by("kind")
over_bytes_rank_32_forces = kept("default").forced("forced", 32)


def tto_at_end(rank: int) -> float:
    """Return TTO of a rank after its training."""
    return course("tto", rank, LAST)


def tto_of_widest_at_loss_of(rank: int) -> float:
    """Return TTO of rank 256 where, along its training, its loss is that of a rank at the end."""
    return at_loss(course.all("loss", 256), course.all("tto", 256), course("loss", rank, LAST))
