"""Simultaneous inference for the comparisons of one claim.

A claim fails if any of its comparisons does, so each needs more evidence than it would alone: with forty comparisons,
an event of probability 2.5 % is likely to occur once. Comparisons over windows share their draws, so the distribution
of the largest of their errors is found there (Westfall and Young 1993; Romano and Wolf 2005), and dependence between
them costs nothing. Other intervals divide the level equally (Bonferroni), and so do margins over several seeds.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from oversmoothing.claims.comparison import TINY, Comparison
from oversmoothing.numerics.statistics import LEVEL, critical_value


def upper_ends(comparisons: Sequence[Comparison]) -> list[float]:
    """Return simultaneous upper confidence bounds for the numbers of all comparisons, margin included.

    The error probability is 2.5 % over windows and other sources of an interval together, and 2.5 % over seeds if there
    are several; the bound of a single comparison is thus the end of its widened 95 % interval. Numbers without an
    interval do not use up any of it. For two comparisons that should agree (`agree`), both count, on either side, and
    the bound is infinite if the sign of the first is not determined at this level.
    """
    orders = {id(one.order): one.order for one in comparisons if one.order}
    family = [*comparisons, *orders.values()]
    reaches = _reaches(family, both_sides=bool(orders))
    seeds = sum(one.freedom > 0 for one in family)
    beyond = {id(one): reaches[id(one)] + one.margin_at(LEVEL / max(seeds, 1)) for one in family}
    return [
        math.inf
        if one.order and abs(one.order.effect - one.order.bound) <= beyond[id(one.order)] + TINY
        else one.effect + beyond[id(one)]
        for one in comparisons
    ]


def _reaches(family: Sequence[Comparison], both_sides: bool) -> dict[int, float]:
    """Return how far each interval reaches above its effect, never less than for the comparison alone."""
    reaches = {id(one): one.high - one.effect for one in family}
    uncertain = [one for one in family if one.uncertain]
    by_windows = defaultdict(list)
    for one in uncertain:
        if one.drawn:
            by_windows[one.drawn.windows].append(one)
        else:
            reaches[id(one)] = max(reaches[id(one)], one.reach_at(LEVEL / len(uncertain)))
    for windows, group in by_windows.items():
        errors = np.stack([one.drawn.errors for one in group if one.drawn])
        critical = critical_value(errors, LEVEL * len(group) / len(uncertain), len(windows), both_sides)
        for one, sd in zip(group, np.nanstd(errors, axis=1, ddof=1), strict=True):
            reaches[id(one)] = max(reaches[id(one)], critical * float(sd))
    return reaches
