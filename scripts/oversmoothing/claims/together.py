"""How far the comparisons of one claim may err when they are taken together.

A claim fails on any one of its comparisons, so each of them needs more evidence than it would alone: with forty chances
one of 2.5 % turns up by itself. Of what varies over windows all comparisons of a claim are of the same draws, and the
largest of their errors is found there (Westfall and Young 1993; Romano and Wolf 2005), so that dependence between them
costs nothing. Other intervals share the level equally among them (Bonferroni), and so do margins over several seeds.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from oversmoothing.claims.comparison import TINY, Comparison
from oversmoothing.statistics import LEVEL, critical_value


def upper_ends(comparisons: Sequence[Comparison]) -> list[float]:
    """Return of each comparison an end above which its number is not, margin included, in all of them at once.

    With a probability of 2.5 % one of them is, over windows and whatever else an interval is from, and 2.5 % over seeds
    where there are several: so one alone has the end of its widened 95 % interval. Numbers without chance take no part
    of either. Of two that are to agree (`agree`) both count, on either side, and the end is infinite where the sign of
    the first is not clear in this way.
    """
    orders = {id(own.order): own.order for own in comparisons if own.order}
    family = [*comparisons, *orders.values()]
    reaches = _reaches(family, both_sides=bool(orders))
    seeds = sum(own.freedom > 0 for own in family)
    beyond = {id(own): reaches[id(own)] + own.margin_at(LEVEL / max(seeds, 1)) for own in family}
    return [
        math.inf
        if own.order and abs(own.order.effect - own.order.bound) <= beyond[id(own.order)] + TINY
        else own.effect + beyond[id(own)]
        for own in comparisons
    ]


def _reaches(family: Sequence[Comparison], both_sides: bool) -> dict[int, float]:
    """Return how far the interval of each reaches above its effect; never less far than it does alone."""
    reaches = {id(own): own.high - own.effect for own in family}
    uncertain = [own for own in family if own.uncertain]
    by_windows = defaultdict(list)
    for own in uncertain:
        if own.drawn:
            by_windows[own.drawn.windows].append(own)
        else:
            reaches[id(own)] = max(reaches[id(own)], own.reach_at(LEVEL / len(uncertain)))
    for windows, group in by_windows.items():
        errors = np.stack([own.drawn.errors for own in group if own.drawn])
        critical = critical_value(errors, LEVEL * len(group) / len(uncertain), len(windows), both_sides)
        for own, sd in zip(group, np.nanstd(errors, axis=1, ddof=1), strict=True):
            reaches[id(own)] = max(reaches[id(own)], critical * float(sd))
    return reaches
