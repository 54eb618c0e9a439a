"""Numbers of README.md beside those that pages share."""

from pages.findings import added_after_long_training, highest_at_equal_validation_loss
from pages.kept import (
    TRUTHS,
    after_equal_steps,
    at_equal_loss,
    beside_fewer_bytes,
    kept,
)
from pages.scale import (
    growth_by_size,
    largest,
    million,
    none_above_by_smollm2,
    smallest,
    text_adds_to_leak,
    widest_at_equal_loss,
)
from pages.vocabularies import (
    more_tokens_need_fewer,
    rank_needed_at_first,
    smollm2_found_wider,
)

__all__ = [  # what the source names of other pages
    "added_after_long_training",
    "growth_by_size",
    "highest_at_equal_validation_loss",
    "largest",
    "million",
    "more_tokens_need_fewer",
    "none_above_by_smollm2",
    "rank_needed_at_first",
    "smallest",
    "smollm2_found_wider",
    "text_adds_to_leak",
    "widest_at_equal_loss",
]

default_tto = kept("default").oversmoothing.where("tto").by("rank")
most_goes_at_equal_loss = all(  # of what a rank leaks more after equal steps, at each rank that is shown to leak more
    beside("tto", rank, truth).high < after_equal_steps("tto", rank, truth).low / 2
    for beside in (at_equal_loss, beside_fewer_bytes)
    for rank in (4, 8, 12, 16)
    for truth in TRUTHS
)
