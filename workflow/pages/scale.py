"""Numbers of the ladder of sizes, which several pages quote: what a rank costs by size and text, and a law of it."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import t

from oversmoothing.tables.quantities import Quantity
from pages.kept import kept
from studies.forced_part.added import LESS
from studies.size_ladder.elsewhere import THESIS, WORKSTATION
from studies.size_ladder.outcomes import CAME, counted, inside
from studies.size_ladder.parts import EFFECTIVE_RANK, OWN
from studies.size_ladder.predict import LAW
from studies.size_ladder.table import REST, STOPPED

STAYS = "smollm2"
TRUTHS_OF_LADDER = (OWN, STAYS)
FORCED_SHARE = "forced_of_added"
ladder, fifth = kept("scale"), kept("scale_held_out")
_scale, _fifth = ladder.scale.over_windows(), fifth.scale_held_out
_rungs = sorted(set(zip(_scale.frame.weights, _scale.frame.bytes, strict=True)))
_held_out = sorted(set(zip(_fifth.frame.weights, _fifth.frame.bytes, strict=True)))
_by_seed = ladder.scale_by_seed
smallest = _rungs[0]  # (weights, bytes)
largest = _rungs[-1]
held_out = _held_out[-1]
smallest_with_most_text = (smallest[0], largest[1])


def added_at(rung: tuple[float, float], measure: str, rank: int, truth: str | None = None) -> Quantity:
    """Return what a rank adds to full rank's measure at a size and text; of a share, which part of the KL added."""
    weights, size = rung
    return (_fifth if rung in _held_out else _scale)(measure, rank, truth, less=LESS, weights=weights, bytes=size)


def grown(measure: str, rank: int, truth: str | None = None, least: tuple[float, float] = smallest) -> Quantity:
    """Return by how much more a rank adds at the largest of four sizes with the most text than at the smallest.

    The trainings of two sizes are no pairs, and a size may have one. So the 95 % interval is by Student's t from the
    variance between seeds of all sizes and texts, which counts once for both texts of a training.
    """
    frame = _by_seed.where(measure, rank, truth).frame
    of_rungs = frame.groupby(["weights", "bytes"]).value
    variance = float(((frame.value - of_rungs.transform("mean")) ** 2).sum() / (len(frame) - of_rungs.ngroups))
    free = int((frame.groupby("weights").seed.nunique() - 1).sum())
    highest, lowest = (of_rungs.get_group(rung) for rung in (largest, least))
    half = float(t.ppf(0.975, free)) * math.sqrt(variance * (1 / len(highest) + 1 / len(lowest)))
    value = float(highest.mean() - lowest.mean())
    return Quantity(value, {"low": value - half, "high": value + half})


growth_of_leak, growth_of_shares = ([grown(of, 4, truth) for truth in TRUTHS_OF_LADDER] for of in ("tto", FORCED_SHARE))
growth_by_size, shares_by_size = (  # after the most text
    [grown(of, 4, truth, smallest_with_most_text) for truth in TRUTHS_OF_LADDER] for of in ("tto", FORCED_SHARE)
)

text_adds_to_leak = all(
    by_size.high < by_both.low for by_size, by_both in zip(growth_by_size, growth_of_leak, strict=True)
)


def million(weights: float) -> str:
    """Return a number of weights in millions."""
    return f"{weights / 1e6:.2f}"


def megabytes(size: float) -> str:
    """Return bytes of text in MB."""
    return f"{size / 1e6:.1f}"


def by_rung(rank: int, measures: Sequence[str]) -> list[tuple[str | Quantity, ...]]:
    """Return a row for each size and text, those held out last: both, then what a rank adds, by each truth in turn."""
    return [
        (
            million(rung[0]) + ", held out" * (rung in _held_out),
            megabytes(rung[1]),
            *(added_at(rung, measure, rank, truth) for truth in TRUTHS_OF_LADDER for measure in measures),
        )
        for rung in (*_rungs, *_held_out)
    ]


effective_ranks_of_rank_4 = _scale.all(EFFECTIVE_RANK, 4, None, less=None)


def leaks_by_rung(rank: int, truth: str) -> list[Quantity]:
    """Return what a rank leaks more than full heads of equal loss on the windows, at each size with that rank."""
    tables = [table for table in (_scale, _fifth) if rank in set(table.frame["rank"])]
    return [number for table in tables for number in table.all("tto", rank, truth, less=STOPPED)]


at_equal_loss_by_rung = {truth: leaks_by_rung(4, truth) for truth in TRUTHS_OF_LADDER}
widest_at_equal_loss = max(at_equal_loss_by_rung[OWN])
_by_own = [number.low for rank in (4, 8, 16) for number in leaks_by_rung(rank, OWN) if not math.isnan(number.low)]
intervals_above = sum(low > 0.007 for low in _by_own), len(_by_own)
none_above_by_smollm2 = all(number < 0 and not number.low > 0 for number in at_equal_loss_by_rung[STAYS])
_predicted = fifth.scale_predictions.by("measure", "rank", "truth", "arm")
ranks_without_law_of_rest = sorted(
    {int(row["rank"]) for row in _predicted.where(measure=REST, value=None, less=LESS).frame.to_dict("records")}
)


def of_law(measure: str, coefficient: str, rank: int, truth: str | None = None) -> Quantity:
    """Return a coefficient of the law of what a rank adds."""
    return _predicted(f"{measure}_{coefficient}", rank, truth, LAW, less=LESS)


def outcomes(place: str) -> list[tuple[Quantity, Quantity, bool]]:
    """Return the predictions of a place of loss, TTO and KL, what came, and whether it lies in the interval."""
    rows = _predicted.where(arm=place).frame.to_dict("records")
    came = {(row["measure"], row["rank"], str(row["truth"])): row["value"] for row in rows}
    return [
        (Quantity(row["value"], row), Quantity(came[key], {}), inside(row, came[key]) == "yes")
        for row in rows
        if counted(place, row["measure"])
        and (key := (row["measure"] + CAME, row["rank"], str(row["truth"]))) in came
        and inside(row, came[key]) in ("yes", "no")
    ]


def _hits(*places: str) -> tuple[int, int]:
    found = [yes for place in places for _, _, yes in outcomes(place)]
    return sum(found), len(found)


places_held_out = tuple(dict.fromkeys(_predicted.frame.arm[_predicted.frame.weights == held_out[0]]))
held_elsewhere = [_hits(place) for place in (WORKSTATION, THESIS)]  # predictions that hold what came, and all
held_at_fifth_size = _hits(*places_held_out)
hits_elsewhere = [f"{yes} of {of}" for yes, of in held_elsewhere]
hits_at_fifth_size = f"{held_at_fifth_size[0]} of {held_at_fifth_size[1]}"


def misses(rank: int) -> tuple[float, float]:
    """Return how far predictions lie from what came at the fifth size, on average, as a share of what came.

    The first are those of the law, the second what the largest size of the ladder had shown after as much text.
    """
    shares = [
        (abs(predicted / came - 1), abs(shown / came - 1))
        for place in places_held_out
        for predicted, came, _ in outcomes(place)
        if predicted.rank == rank
        for shown in [_shown(largest[0], predicted)]
    ]
    by_law, by_largest = np.mean(shares, axis=0).tolist()
    return by_law, by_largest


def _shown(weights: float, like: Quantity) -> float:
    truth = None if pd.isna(like.truth) else like.truth
    found = _by_seed.where(like.measure, like.rank, truth, weights=weights, bytes=like.bytes)
    return float(found.frame.value.mean())


miss_at_rank_4, miss_at_rank_16 = misses(4), misses(16)
held_out_above_largest = all(  # whether rank 4 costs more at the fifth size than at the fourth, of loss, TTO and KL
    came > _shown(largest[0], predicted)
    for place in places_held_out
    for predicted, came, _ in outcomes(place)
    if predicted.rank == 4
)


def outcome_of_tto(place: str) -> tuple[Quantity, Quantity]:
    """Return what was predicted of TTO of rank 4 by own truths, and what came."""
    ((predicted, came),) = (
        (number, came)
        for number, came, _ in outcomes(place)
        if (number.measure, number.rank, number.truth) == ("tto", 4, OWN)
    )
    return predicted, came


thesis_tto_predicted, thesis_tto_came = outcome_of_tto(THESIS)
