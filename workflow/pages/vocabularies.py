"""Numbers of how many dimensions a head needs over a vocabulary, which several pages quote."""

import math
from collections.abc import Sequence

import pandas as pd

from oversmoothing.tables.quantities import Quantity, Table, digits
from pages.kept import kept
from studies.dimensions_needed.names import BEST, FITTED, OTHER, TARGETS, TRAINED, growth, needed
from studies.dimensions_needed.table import shown

TRUTHS_OF_VOCABULARIES = {
    "truth": "trained here",
    "short": "trained here, for a quarter of the steps",
    "smollm2": "SmolLM2",
}
RUNS = {"truth": "vocabularies", "short": "vocabularies_1024_short", "smollm2": "vocabularies_smollm2"}  # by truth
_frames = [of[of.truth == truth] for truth, run in RUNS.items() for of in [kept(run).vocabularies.frame]]
_table = Table("vocabularies", pd.concat(_frames), ("measure", "truth", "vocabulary", "rank"))
_frame = _table.frame[_table.frame.vocabulary.notna()]
of_truths = {  # numbers of tokens by truth, smallest first
    truth: sorted(set(_frame[_frame.truth == truth].vocabulary.astype(int))) for truth in TRUTHS_OF_VOCABULARIES
}
(tokens_of_short,), (tokens_of_smollm2,) = of_truths["short"], of_truths["smollm2"]


def _row(truth: str, v: int, nats: float, curve: str) -> dict[str, object]:
    (row,) = _table.where(needed(curve, nats), truth, v).frame.to_dict("records")
    return dict(row)


def rank_needed(truth: str, v: int, nats: float, curve: str = BEST) -> str:
    """Return the rank that forces no more on a curve, with its interval; in words beyond the measured ranks."""
    return shown(_row(truth, v, nats, curve))


def needs(truth: str, v: int, nats: float, curve: str = BEST) -> float:
    """Return that rank: infinite beyond the largest that was measured, and 0 below the smallest."""
    row = _row(truth, v, nats, curve)
    if not math.isnan(value := float(str(row["value"]))):
        return value
    return math.inf if str(row["note"]).startswith("more than") else 0.0


def rank_needed_at_first(truth: str, v: int, curve: str = BEST) -> str:
    """Return the rank of the best head found that forces no more than the first target, held out or where fitted."""
    return rank_needed(truth, v, TARGETS[0], curve)


def ranks_for_targets(truth: str, v: int) -> str:
    """Return the ranks of the best head found that force no more than each target."""
    first, *others, last = (rank_needed(truth, v, nats) for nats in TARGETS)
    return f"{', '.join([first, *others])} and {last}"


# Powers of the number of tokens with which these ranks grow, by target, of truths trained here.
growths = [_table(growth(nats), "truth", None, None) for nats in TARGETS]


def at_each(measure: str, rank: int) -> list[Quantity]:
    """Return a measure of a rank over each vocabulary whose truth was trained here for all steps, smallest first."""
    return [_table(measure, "truth", v, rank) for v in of_truths["truth"]]


def rank_needed_at_last(truth: str, v: int) -> str:
    """Return the rank of the best head found that forces no more than the last target, held out."""
    return rank_needed(truth, v, TARGETS[-1])


def forced_of_smollm2(rank: int) -> Quantity:
    """Return what the best head found of a rank forces of SmolLM2, held out."""
    return _table(BEST, "smollm2", tokens_of_smollm2, rank)


def listed(numbers: Sequence[float], decimals: int = 3) -> str:
    """Return numbers as a list in words."""
    *others, last = (digits(number, decimals) for number in numbers)
    return f"{', '.join(others)} and {last}"


trained_above_best = all(  # at each rank from 8 to 64, over tokens
    trained.low > best.high
    for rank in (8, 16, 32, 64)
    for trained, best in list(zip(at_each(TRAINED, rank), at_each(BEST, rank), strict=True))[1:]
)
less_after_fewer_steps = [  # percent, by target
    100 * (1 - needs("short", tokens_of_short, nats) / needs("truth", tokens_of_short, nats)) for nats in TARGETS
]
short_needs_fewer = min(less_after_fewer_steps) > 0
_within = kept("vocabularies_within").vocabularies.by("measure", "rank")
_limits = [  # what a head within the span of the truth's own forces, and a free one, held out; rank by rank
    (_within(BEST, rank), _table(BEST, "truth", tokens, rank))
    for tokens in [of_truths["truth"][-1]]
    for rank in (4, 8, 16, 32, 64)
]
cost_of_span = max(within / free - 1 for within, free in _limits)  # as a share
span_costs_less_than_a_third = all(within.high / free.low < 4 / 3 for within, free in _limits)
most_needed_of_truths_trained_here = max(rank for v in of_truths["truth"] for rank in [needs("truth", v, TARGETS[0])])
smollm2_found_wider = (  # held out; heads for it were sought in the span of its own alone
    needs("smollm2", tokens_of_smollm2, TARGETS[0]) > 2 * most_needed_of_truths_trained_here
)
_held_above_fitted = [  # of what heads for SmolLM2 force, lowest rank first
    held / _table(FITTED, "smollm2", tokens_of_smollm2, int(held.rank))
    for held in sorted(_table.where(BEST, "smollm2", tokens_of_smollm2).all(), key=lambda held: int(held.rank))
]
most_held_above_fitted = max(_held_above_fitted)
held_above_fitted_rises = _held_above_fitted == sorted(_held_above_fitted)
rank_that_would_overturn = round(needs("smollm2", tokens_of_smollm2, TARGETS[0]) / 2)
_needed_over_1024, _needed_over_8192 = (
    [_table(needed(BEST, nats), "truth", v, None) for nats in TARGETS] for v in (1024, 8192)
)
more_tokens_need_fewer = all(
    fewer.low > more.high for fewer, more in zip(_needed_over_1024, _needed_over_8192, strict=True)
)
_of_smollm2 = _row("smollm2", tokens_of_smollm2, TARGETS[0], BEST)
_beyond = [math.isnan(float(str(_of_smollm2[end]))) for end in ("value", "high")]  # the largest rank, 128
smollm2_needs_over_128 = "yes" if all(_beyond) else "open" if any(_beyond) else "no"
_all = [(truth, v) for truth, known in of_truths.items() for v in known]
_two_starts = [key for key in _all if key[0] != "smollm2"]
_starts = [
    (_table(OTHER, *key, rank), _table(FITTED, *key, rank)) for key in _two_starts for rank in (4, 8, 16, 32, 64)
]
other_start_above = max(other / best - 1 for other, best in _starts)  # where fitted, as a share
other_start_above_where_much = max(other / best - 1 for other, best in _starts if best > TARGETS[-1])
held_above_fitted = max(  # the largest ratio of the rank that a target needs held out to that where heads were fitted
    needs(*key, nats) / needs(*key, nats, FITTED)
    for key in _all
    for nats in TARGETS
    if 0 < needs(*key, nats) < math.inf and 0 < needs(*key, nats, FITTED) < math.inf
)
ranks_by_vocabulary = [
    (
        f"{v:,}",
        TRUTHS_OF_VOCABULARIES[truth],
        *(rank_needed(truth, v, nats) for nats in TARGETS),
        *(rank_needed(truth, v, nats, FITTED) for nats in TARGETS),
        rank_needed(truth, v, TARGETS[0], TRAINED) if truth == "truth" else "-",
    )
    for truth, v in _all
]
