"""What a rank cost larger models elsewhere, in the kept run `workstation` and the thesis, by their size and text."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from oversmoothing.models.gpt_shape import block_matrices
from oversmoothing.tables.record import chosen
from studies.forced_part.added import ADDED
from studies.leak_at_equal_loss.table import LOSS as VALIDATION
from studies.size_ladder.parts import OWN
from studies.size_ladder.table import FORCED, REST

WORKSTATION, THESIS = "workstation", "thesis"
WEIGHTS = block_matrices({"layers": 16, "width": 512})  # of both
STEP = 16 * 16 * 1024  # bytes that a step of the thesis's trainings reads (its section 3.3)
# Steps until trainings stop in the thesis's Figure 3.1, as far as it shows: fewer at rank 4.
THESIS_STEPS = {4: 12_000, 8: 25_000, 16: 25_000}
READ = {  # bytes of text that a model read in training, by place and rank
    WORKSTATION: dict.fromkeys(THESIS_STEPS, 1500 * 16 * 1024),
    THESIS: {rank: steps * STEP for rank, steps in THESIS_STEPS.items()},
}
KEPT = {"kl": "kl", "tto": "tto", "forced": FORCED, "rest": REST}  # measures of the kept table, as the law calls them
FULL = 512


def places() -> Iterator[dict[str, Any]]:
    """Yield ``place``, ``rank``, ``weights`` and ``bytes`` of what the law predicts of models elsewhere."""
    for place, by_rank in READ.items():
        for rank, read in by_rank.items():
            yield {"place": place, "rank": rank, "weights": WEIGHTS, "bytes": read}


def of_workstation(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what ranks of the kept run add to its full head, from its table `forced`, of one seed."""
    shown = table[table.measure.isin(KEPT)].pivot(index="rank", columns="measure", values="value")
    for rank in READ[WORKSTATION]:
        added = shown.loc[rank] - shown.loc[FULL]
        known = {"place": WORKSTATION, "rank": rank, "truth": OWN}
        yield from ({**known, "measure": name, "value": added[of]} for of, name in KEPT.items() if pd.notna(added[of]))
        yield {**known, "measure": ADDED, "value": added.kl}


def of_thesis(losses: pd.DataFrame, leaks: pd.DataFrame, stays: str) -> Iterator[dict[str, Any]]:
    """Yield what ranks of the thesis add to its full head: in loss (Table 3.1) and TTO (Table 4.1)."""
    loss = chosen(losses, metric=VALIDATION).set_index("model")["mean"]
    truths = {OWN: "NanoGPT 300M", stays: "EvaByte"}
    for rank in READ[THESIS]:
        known = {"place": THESIS, "rank": rank}
        yield {**known, "truth": None, "measure": VALIDATION, "value": loss[str(rank)] - loss[str(FULL)]}
        for name, printed in truths.items():
            tto = chosen(leaks, truth=printed, metric="tto", decoding="pure").set_index("model")["mean"]
            yield {**known, "truth": name, "measure": "tto", "value": tto[str(rank)] - tto[str(FULL)]}


def of_ladder(
    by_seed: pd.DataFrame, held: Sequence[dict[str, Any]], measures: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield what ranks of the sizes held out add to their full heads, means over seeds."""
    for place in held:
        here = chosen(by_seed, weights=place["weights"], bytes=place["bytes"])
        here = here[here.measure.isin(measures)]
        for (rank, truth, measure), own in here.groupby(["rank", "truth", "measure"], dropna=False, sort=False):
            known = {"place": place["place"], "rank": rank, "truth": None if pd.isna(truth) else truth}
            yield {**known, "measure": measure, "value": float(own.value.mean())}
