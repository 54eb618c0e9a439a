"""Numbers of docs/paper/paper.md beside those that pages share."""

from pages.findings import widest_gap
from pages.kept import STUDIES, and_not_tested, seeds
from pages.scale import growth_by_size, growth_of_leak, largest, million, smallest, widest_at_equal_loss
from pages.vocabularies import more_tokens_need_fewer, rank_needed_at_first, rank_needed_at_last

__all__ = [  # what the source names of other pages
    "and_not_tested",
    "growth_by_size",
    "growth_of_leak",
    "largest",
    "million",
    "more_tokens_need_fewer",
    "rank_needed_at_first",
    "rank_needed_at_last",
    "seeds",
    "smallest",
    "widest_at_equal_loss",
    "widest_gap",
]

number_of_kept_runs = len(list(STUDIES.rglob("run.json")))
