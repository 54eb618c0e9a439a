"""Numbers of docs/reproducibility.md beside those that pages share."""

import json
from typing import Any

from oversmoothing.tables.quantities import percent, spread
from pages.kept import STUDIES, kept

tto = kept("default").oversmoothing.where("tto").by("rank")
tto_decoded = kept("default").decodings_pooled.where("tto", 4).by("decoding")
tto_over_seeds = kept("seeds").across_seeds.where("tto", kind="family", truth=None).by("rank")
tbat_of_full_rank = kept("default").tbat("tbat", 288, decoding="pure")


def clock(run: str, some: str = "") -> str:
    """Return how many minutes of clock and of processor a kept run took."""
    about: dict[str, Any] = json.loads((STUDIES / run / "run.json").read_text(encoding="utf-8"))
    return f"{about['clock_minutes']:,.0f} minutes, {some}{60 * about['processor_hours']:,.0f} of processor"


def spread_of_seeds(measure: str) -> str:
    """Return the most by which five trainings of one rank differ, as a share of the largest value."""
    of_tbat = measure == "tbat"  # which needs no truth, and is 0 at ranks above 32
    table = kept("replication").oversmoothing.where(measure, decoding="pure", kind="family")
    return percent(
        max(
            spread(table.column("value", rank=rank, truth=truth))
            for rank in ((4, 8, 12, 16, 32) if of_tbat else (4, 8, 12, 16, 32, 128, 288))
            for truth in ((None,) if of_tbat else ("truth", "smollm2"))
        )
    )
