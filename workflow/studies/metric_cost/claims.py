"""The claim about cost (thesis, Table I.1)."""

import numpy as np

from oversmoothing.claims.claim import Claim
from oversmoothing.claims.contrast import Contrast, Missing, less
from oversmoothing.claims.measured import Measured
from oversmoothing.claims.thesis import MAIN
from studies.metric_cost.timed import PUBLISHED_METHOD, TIMED

HUNDREDFOLD = 2.0  # in powers of ten


def tbat_costs_a_hundred_times_more(m: Measured) -> list[Contrast]:
    """Contrast the seconds of TBAT by linear programs, where they ran, with each other metric's, in powers of ten."""
    measures = set(m.table("metric_cost").measure)
    method = PUBLISHED_METHOD if PUBLISHED_METHOD in measures else "tbat"  # the thesis has one
    found = []
    for rank in m.ranks():
        for metric in MAIN:
            try:
                tbat = m.values("metric_cost", method, rank=rank.rank)
            except Missing:
                continue
            ratio = np.log10(tbat / m.values("metric_cost", metric, rank=rank.rank))
            found.append(less(f"powers of ten from {TIMED[metric]} to TBAT, {rank}", ratio, above=HUNDREDFOLD))
    if not found:
        raise Missing("the published algorithm ran at no rank")
    return found


CLAIMS = [
    Claim(
        "tbat-costs-more",
        "I, Table I.1",
        "TBAT, computed as published, takes far longer than any other metric.",
        "Powers of ten between the mean times per position, above 2; at each rank up to `costs.highest_rank`.",
        tbat_costs_a_hundred_times_more,
    ),
]
