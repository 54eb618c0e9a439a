"""Rows of small records made by hand."""

import math


def row(measure, value, low=math.nan, high=math.nan, rank=4, seed=1, **facts):
    """Return a row of the record: of a member of the family, unless `facts` say otherwise."""
    known = {"model": f"bn{rank}-s{seed}", "kind": "family", "rank": rank, "seed": seed, "measure": measure}
    return known | {"value": value, "low": low, "high": high} | facts
