"""What would decide a comparison that is undecided: a larger difference, or more seeds."""

import math
from collections.abc import Sequence

from scipy.special import nctdtr, ndtri, stdtrit  # scipy.stats takes half a second to import

from oversmoothing.claims.comparison import Comparison
from oversmoothing.numerics.statistics import LEVEL

POWER = 0.8  # chance that the number of seeds decides a comparison
MOST_SEEDS = 1000  # that are tried


def smallest_told(one: Comparison) -> float | None:
    """Return how far from its bound a number must lie to be told: half its interval and its margin; None if unknown."""
    distance = _over_windows(one) + one.margin
    return distance if 0 < distance < math.inf else None


def seeds_to_decide(undecided: Sequence[Comparison], family: Sequence[Comparison]) -> float | None:
    """Return how many seeds would decide a claim if its numbers are as measured, each with a chance of `POWER`.

    One number below its bound is enough for "does not hold", at the level that all of the claim's comparisons share
    (see `together`); for "holds" each undecided one must be told. Infinite if more than `MOST_SEEDS` would not do, and
    None where no margin says how much trainings differ.

    Parameters
    ----------
    undecided, family : sequences of Comparison
        Those to be decided, and all of the claim.
    """
    known = [one for one in undecided if 0 < one.margin < math.inf]
    if len(known) < len(undecided):
        return None
    shared = LEVEL / sum(one.margin > 0 for one in family)
    against = [_seeds(one, shared) for one in known if one.effect < one.bound]
    return min(against) if against else max(_seeds(one, LEVEL) for one in known)


def power(distance: float, sd: float, seeds: int, level: float = LEVEL) -> float:
    """Return the chance that Student's t over paired seeds tells a mean from its bound.

    Parameters
    ----------
    distance : float
        Of the mean from the bound, on the side that is to be told.
    sd : float
        Of the paired differences over seeds.
    seeds : int
    level : float
        One-sided; t then has a noncentral distribution with noncentrality distance / (sd / sqrt(seeds)).
    """
    critical = -stdtrit(seeds - 1, level)
    return 1.0 - float(nctdtr(seeds - 1, distance / sd * math.sqrt(seeds), critical))


def _seeds(one: Comparison, level: float) -> float:
    """Return the number of seeds that tell this number from its bound; its interval over windows stays as it is."""
    distance = abs(one.effect - one.bound) - _over_windows(one)
    if not distance > 0:
        return math.inf
    sd = _spread(one)
    return next((n for n in range(2, MOST_SEEDS + 1) if power(distance, sd, n, level) >= POWER), math.inf)


def _spread(one: Comparison) -> float:
    """Return the sd of a difference over seeds; with one seed, as if 95 % of differences were within the margin."""
    if one.freedom:
        return one.margin * math.sqrt(one.freedom + 1) / -float(stdtrit(one.freedom, LEVEL))
    return one.margin / -float(ndtri(LEVEL))


def _over_windows(one: Comparison) -> float:
    """Return the half of the interval that lies towards the bound."""
    return one.effect - one.low if one.effect >= one.bound else one.high - one.effect
