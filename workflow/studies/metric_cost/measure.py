"""Cost of the metrics: seconds per position, with TBAT by `reject_set` and by one linear program per token.

As in the thesis (Table I.1), a call handles one position. Times are processor times, which waiting for other processes
does not lengthen. Work done once per model for all positions is not counted: for TBAT, the basis of the head.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import reject_set
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.logit_files import POSITION
from oversmoothing.models.spectra import read_head
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.metrics import score
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.metric_cost.timed import REPEATS, TIMED

COSTS = pa.schema([("model", pa.string()), ("rank", pa.int32()), *((metric, pa.float64()) for metric in TIMED)])


def main(job: Job) -> None:
    """Read heads and a few logits; write one row per model and position."""
    settings = job.params.settings
    use_threads(1)
    rows = draw_rows(job.input.truth, settings["positions"], settings["seed"])
    truth = read_rows(job.input.truth, ["logits"], rows)
    timing = {key: settings[key] for key in ("tau", "delta", "highest_rank")}
    costs: list[dict] = []
    with tqdm(total=len(rows) * len(settings["models"]), unit="position", disable=None) as bar:
        for model, logits, weights in zip(settings["models"], job.input.logits, job.input.weights, strict=True):
            bar.set_description(model)
            positions = read_rows(logits, ["logits"], rows)
            for cost in time_positions(model, read_head(weights), positions, truth, **timing):
                costs.append(cost)
                bar.update()
    write_table(job.output[0], pa.Table.from_pylist(costs, schema=COSTS), provenance(settings))


def time_positions(
    model: str,
    head: np.ndarray,
    positions: Mapping[str, np.ndarray],
    truth: Mapping[str, np.ndarray],
    tau: float,
    delta: float,
    highest_rank: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a row of `COSTS` per position, as `read_rows` gives them; up to `highest_rank` by both methods for TBAT."""
    if any(not np.array_equal(positions[key], truth[key]) for key in POSITION):
        raise UserError(f"{model}: its logits and the truth's come from other windows; delete both and run again")
    basis, logits = prepare(head), positions["logits"]
    p_bn, p_gt, exact = softmax(logits), softmax(truth["logits"]), softmax(logits.astype(np.float64))
    for i, (window, position) in enumerate(zip(positions["window"], positions["position"], strict=True)):
        pair = p_bn[i : i + 1], p_gt[i : i + 1]
        seconds = {name: median_seconds(partial(score, *pair, [pure], [name], tau), REPEATS) for name in AGAINST_TRUTHS}
        both = highest_rank is None or head.shape[1] <= highest_rank
        where = f"{model}, window {window}, position {position}"
        yield {
            "model": model,
            "rank": head.shape[1],
            **seconds,
            **time_reject_sets(where, head, basis, exact[i], delta, both),
        }


def time_reject_sets(
    where: str, head: np.ndarray, basis: Basis, p: np.ndarray, delta: float, both: bool = True
) -> dict[str, float | None]:
    """Return the seconds of one or `both` methods for a BAT-reject set of p (v,), or say `where` they differ."""
    sets = reject_set(basis, p, delta)  # numba compiles here
    fast = median_seconds(lambda: reject_set(basis, p, delta), REPEATS)
    if not both:
        return {"tbat": fast, "tbat_published_method": None}
    start = time.process_time()
    published = reject_set_by_linear_programs(head, p, delta)
    slow = time.process_time() - start
    unlike = np.flatnonzero((sets.rejected[0] != published) & ~sets.undecided[0])
    if len(unlike):
        raise UserError(
            f"{where}: reject_set and one linear program per token differ at token {unlike[0]} "
            f"({len(unlike)} in all), so their costs cannot be compared; please report this with logits and weights"
        )
    return {"tbat": fast, "tbat_published_method": slow}


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the median processor time of a call, excluding the first."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))


if __name__ == "__main__":
    run(main)
