"""Numbers of how many dimensions a head needs over a vocabulary, which several pages quote."""

import math
from collections.abc import Sequence

from oversmoothing.tables.quantities import Quantity
from pages.kept import kept
from studies.dimensions_needed.names import BEST, FITTED, OTHER, TARGETS, TRAINED, growth, needed
from studies.dimensions_needed.table import shown

TRUTHS_OF_VOCABULARIES = {"truth": "trained here", "smollm2": "SmolLM2"}
_table = kept("vocabularies_smollm2").vocabularies.by("measure", "truth", "vocabulary", "rank")
_frame = _table.frame[_table.frame.vocabulary.notna()]
vocabularies = {  # by truth, smallest first
    truth: sorted(_frame[_frame.truth == truth].vocabulary.astype(int).unique().tolist())
    for truth in TRUTHS_OF_VOCABULARIES
}
fewest, most = vocabularies["truth"][0], vocabularies["truth"][-1]
(tokens_of_smollm2,) = vocabularies["smollm2"]


def rank_needed(truth: str, v: int, nats: float, curve: str = BEST) -> str:
    """Return the rank that forces no more on a curve, with its interval; in words beyond the measured ranks."""
    (row,) = _table.where(needed(curve, nats), truth, v).frame.to_dict("records")
    return shown(row)


def needs(truth: str, v: int, nats: float, curve: str = BEST) -> float:
    """Return that rank: infinite beyond the largest that was measured, and 0 below the smallest."""
    (row,) = _table.where(needed(curve, nats), truth, v).frame.to_dict("records")
    if not math.isnan(row["value"]):
        return float(row["value"])
    return math.inf if row["note"].startswith("more than") else 0.0


def power(nats: float, curve: str = BEST) -> Quantity:
    """Return the power of the number of tokens with which the rank for a target grows."""
    return _table(growth(nats, curve), "truth", None, None)


def at_each(measure: str, rank: int) -> list[Quantity]:
    """Return a measure of a rank over each vocabulary whose truth was trained here, smallest first."""
    return [_table(measure, "truth", v, rank) for v in vocabularies["truth"]]


def widest_gap_of_starts(ranks: Sequence[int]) -> float:
    """Return by how much more the other start forces than the best head at most, where fitted, as a share of it."""
    pairs = [
        (_table(OTHER, truth, v, rank), _table(FITTED, truth, v, rank))
        for truth, known in vocabularies.items()
        for v in known
        for rank in ranks
    ]
    return max(other / best - 1 for other, best in pairs)


def held_above_fitted() -> float:
    """Return the largest ratio of the rank that a target needs held out to that where heads were fitted."""
    pairs = [
        (needs(truth, v, nats), needs(truth, v, nats, FITTED))
        for truth, known in vocabularies.items()
        for v in known
        for nats in TARGETS
    ]
    return max(held / fitted for held, fitted in pairs if 0 < fitted < math.inf)


ranks_by_vocabulary = [
    (
        f"{v:,}",
        TRUTHS_OF_VOCABULARIES[truth],
        *(rank_needed(truth, v, nats) for nats in TARGETS),
        *(rank_needed(truth, v, nats, FITTED) for nats in TARGETS),
        *((rank_needed(truth, v, nats, TRAINED) if truth == "truth" else "-") for nats in TARGETS[:2]),
    )
    for truth, known in vocabularies.items()
    for v in known
]
