"""Numbers of docs/bytes.md beside those that pages share."""

from oversmoothing.tables.quantities import Quantity, above, below, digits, holds
from pages.kept import (
    TRUTHS,
    at_equal_loss_by_three_truths,
    benchmark,
    by_three_truths,
    kept,
    level_by_three_truths,
    smollm2_less_own_truth,
)

real, prose = kept("smollm2").real_truth, kept("smollm2_prose").real_truth
level = real.where(kind="family", less=None)
level_on_prose = prose.where(less=None)
less_full_rank_on_prose = prose.where("tto", less="rank 288")
STEPS = ["rank 8", "rank 16", "rank 32", "rank 288"]
steps, steps_by_smollm2_on_prose = (
    real.all("tto", kind="family", less=STEPS),
    prose.all("tto", truth="smollm2", less=STEPS),
)
tto_of_own_truth_by_smollm2 = real("tto", truth="smollm2", model="truth")


def _forced(rank: int, truth: str) -> Quantity | int:
    return level("forced_share", rank, truth) if rank < 288 else 0


by_rank = [
    (
        rank,
        *(level("tto", rank, truth) for truth in TRUTHS),
        smollm2_less_own_truth(rank),
        *(_forced(rank, truth) for truth in TRUTHS),
    )
    for rank in (4, 8, 16, 32, 288)
]


def _at_equal_loss(rank: int, truth: str) -> Quantity | str:
    """Return a dash for ranks that lose less than some of the full heads that were trained for fewer steps."""
    return at_equal_loss_by_three_truths("tto", rank, truth) if rank <= 16 else "-"


THREE = (*TRUTHS, "gemma")
by_three = [
    (
        rank,
        *(level_by_three_truths(rank, truth) for truth in THREE),
        by_three_truths(rank, "gemma", less="smollm2"),
        *(_at_equal_loss(rank, truth) for truth in THREE),
    )
    for rank in (4, 8, 12, 16, 32, 128, 288)
]

_by_truth = kept("real_truth").claims.frame.pivot_table("verdict", "id", "truth", aggfunc="first")
judged_by_three = _by_truth.dropna()
real_models_judge_alike = bool((_by_truth["smollm2"] == _by_truth["gemma"]).all())
number_judged_alike_by_all = int((judged_by_three["truth"] == judged_by_three["gemma"]).sum())


def moved_by(control: str) -> list[Quantity]:
    """Return by how much another temperature or no text before a window moves TTO by SmolLM2, at each rank."""
    return real.all("tto", truth=control, less="smollm2", kind="family")


def range_of(numbers: list[Quantity]) -> str:
    """Return between which values numbers of one sign lie, without the sign."""
    holds(above(numbers) or below(numbers))
    sizes = [abs(number) for number in numbers]
    return f"{digits(min(sizes))} to {digits(max(sizes))}"


view = benchmark.byte_view.where(case="SmolLM2-135M, 20000 bytes")
view_of_200_bytes = benchmark.byte_view.where(case="ours, 200 bytes")
beam_of_200_bytes = benchmark.byte_view.where(case="genlm-bytes, beam 5, 200 bytes")
gigabytes_of_view = view("memory") / 1000
