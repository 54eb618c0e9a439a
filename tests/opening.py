"""What a chapter opens with, from a small record made by hand."""

import math

from oversmoothing.tables.record import record


def opening(chapter, table, *rows):
    """Return the sentences that a chapter makes of a table, as one text."""
    return " ".join(chapter.answers[table](record(rows)))


def row(measure, value, low=math.nan, high=math.nan, rank=4, seed=1, **facts):
    """Return a row of the record: of a member of the family, unless `facts` say otherwise."""
    known = {"model": f"bn{rank}-s{seed}", "kind": "family", "rank": rank, "seed": seed, "measure": measure}
    return known | {"value": value, "low": low, "high": high} | facts
