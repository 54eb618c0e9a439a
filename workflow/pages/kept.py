"""The kept tables, and what several pages quote of them.

A name stands for the rows of one study and one comparison; the measure, the rank and the truth are what a template
asks of them: ``at_equal_loss("tto", 4, "smollm2")``. Each page has a module of its own beside this one.
"""

import functools
from collections import Counter
from pathlib import Path

from oversmoothing.tables.quantities import SIGNIFICANT, Quantity, Run, Table, digits, of_seeds
from studies.narrow_trunk.parts import ALL, HEAD, LAST_BLOCK

ROOT = Path(__file__).resolve().parents[2]
STUDIES, PUBLISHED, BENCHMARKS = (ROOT / "resources" / name for name in ("studies", "published", "benchmarks"))
TRUTHS = ("truth", "smollm2")  # the own one, and the real language model
NAMES = {"truth": "own", "smollm2": "SmolLM2"}  # as rows of tables call them
CHAPTERS = {  # of the thesis
    "3": "The models",
    "4": "Oversmoothing by rank",
    "5": "Samples",
    "6": "Decoding",
    "7": "Truncated heads and effective ranks",
    "8": "Conclusions",
    "B": "Bytes that cannot be predicted",
    "F": "Entropy",
}


@functools.cache
def kept(run: str) -> Run:
    """Return the tables of a kept run."""
    return Run(STUDIES / run)


def starred(difference: Quantity, decimals: int = 3, mark: str = "*") -> str:
    """Return a difference as pages print it, with a mark if it is significant after correction."""
    return digits(difference, decimals) + (mark if difference.p < SIGNIFICANT else "")


published, benchmark = Run(PUBLISHED), Run(BENCHMARKS)

# A rank beside a full head: one that learned for fewer steps, to the same loss, or for as many.
equal_loss = kept("equal_loss").equal_loss.over_windows()
at_equal_loss = equal_loss.where(less="equal loss on the windows", kind="family")
at_equal_validation_loss = equal_loss.where(less="equal loss", kind="family")
after_equal_steps = equal_loss.where(less="rank 288", kind="family")

# A rank beside full heads that took as many steps and predict worse as they see fewer bytes; these, and a full head
# of one layer, beside full heads of other steps.
_controls = kept("equal_loss_controls").equal_loss.over_windows()
beside_fewer_bytes = _controls.where(less="equal loss on the windows, shorter context", kind="family")
full_heads_beside_other_steps = _controls.where(less="equal loss on the windows", kind=["context", "layers"]).by(
    "measure", "arm", "truth"
)
full_heads = _controls.where(less=None).by("measure", "arm", "truth")
_truths_of_windows = kept("replication").losses.where("loss", kind="truth")
truths_beat_all_models = max(_truths_of_windows.column("value")) < min(  # at the loss on the windows
    _table.where("loss", less=None).frame.value.min() for _table in (equal_loss, _controls)
)
leaks_at_equal_loss = [*at_equal_loss.all("tto"), *beside_fewer_bytes.all("tto")]

# What a rank adds to the KL of full rank, and which share of it heads force.
added = kept("smollm2").forced.over_windows().where(less="full rank", seed=None)
added_by_parts = kept("smollm2").best_head.over_windows().where(less="full rank", seed=None)

# What Godey et al. (2024) say: whether a model saturates, and how far above a law of losses it ends.
_godey = kept("godey")


def along_godey(measure: str) -> list[list[float]]:
    """Return the values of a measure along each training, from the first step to the last."""
    trainings = _godey.along_training.where(measure).frame.sort_values("step").groupby("model")
    return [of_training.tolist() for _, of_training in trainings.value]


none_saturates = all(losses[-1] == min(losses) for losses in along_godey("loss"))
above_law = {
    arm: of_seeds(_godey.saturation.column("value", measure="above_last", arm=arm))
    for arm in ("w16", "w32", "bn4", "bn8")
}

# TTO by the two truths: their difference, and what a rank leaks more than full rank.
_tto = kept("smollm2").real_truth.where("tto", kind="family")
smollm2_less_own_truth = _tto.where(truth="smollm2", less="truth")
less_full_rank = _tto.where(less="rank 288")
loss_of_smollm2, loss_of_own_truth = (kept("smollm2").losses("loss", arm=arm) for arm in ("smollm2", "truth"))

# The same by a third truth, a real language model of another maker; and the truths held against each other.
three = kept("real_truth")
by_three_truths = three.real_truth.where("tto", kind="family")
level_by_three_truths, less_full_rank_by_three_truths = (
    by_three_truths.where(less=less) for less in (None, "rank 288")
)
between_truths = three.real_truth.where("tto", kind="truth").by("model", "truth")
at_equal_loss_by_three_truths, after_equal_steps_by_three_truths = (
    three.equal_loss.over_windows().where(less=less, kind="family")
    for less in ("equal loss on the windows", "rank 288")
)
gemma_as_smollm2_after_equal_steps = digits(after_equal_steps_by_three_truths("tto", 4, "gemma")) == digits(
    after_equal_steps("tto", 4, "smollm2")
)

# Pairs of a trunk and a head, full or narrow; what a narrow head costs, and what a narrow gradient does.
square, wide_square = (kept(run).closed_square.by("measure", "rank", "kind") for run in ("gradient", "gradient_wide"))
above_full_pair, wide_above_full_pair = (table.where(less="control") for table in (square, wide_square))
in_place_of_full_head, in_place_of_gradient = (
    kept("gradient").paired_ranks.where(less=less).by("measure", "rank", "kind") for less in ("full", "backward")
)
wide_in_place_of_gradient = kept("gradient_wide").paired_ranks.where("loss", less="backward", kind="plain")

# Trunks behind narrow heads, with a new full head, once a part of the model has learned on; and less full trunks that
# were stopped at their loss and learned on alike.
PARTS = (HEAD, LAST_BLOCK, ALL)
_trunks, _trunks_at_32 = (
    kept(run).narrow_trunk.over_windows().by("measure", "arm", "part") for run in ("harm", "harm_32")
)
LAST_STEP = max(_trunks.frame.step)
after_learning_on, after_learning_on_at_32 = (of.where(step=LAST_STEP, less=None) for of in (_trunks, _trunks_at_32))
as_trained_at_32 = _trunks_at_32.where(step=0, less=None).by("measure", "arm")
less_stopped_trunk, less_stopped_trunk_at_32 = (
    of.where(step=LAST_STEP, less="full trunk of equal loss") for of in (_trunks, _trunks_at_32)
)
nats_above_stopped_trunk, nats_above_stopped_trunk_at_32 = (
    [of("loss", f"pl{rank}", ALL) for rank in (4, 8, 16)] for of in (less_stopped_trunk, less_stopped_trunk_at_32)
)

# The heads of SmolLM2 and Gemma on two texts, with their own rank or truncated to one.
_heads = [kept(run).real_head for run in ("real_head", "real_head_gemma")]
real_head, gemma_head = (head.by("measure", "text", "truth").where(rank=None) for head in _heads)
truncated_real_head, truncated_gemma_head = (head.by("measure", "rank", "text").where(truth="all") for head in _heads)

sentences = kept("replication").claims.where(chapter=list(CHAPTERS))
counted_sentences = sentences.where(truth=None, cannot_fail=None)
number_of_sentences = len(counted_sentences.frame)
seeds = len(kept("replication").oversmoothing.where("tto", 4, "truth").frame)  # of each rank of the replication
verdicts = Counter(counted_sentences.column("verdict"))
and_not_tested = f", {verdicts['not tested here']} not tested" * bool(verdicts["not tested here"])
chance = benchmark.null_verdicts.where(case="replication")
power = kept("gradient").gradient_claims.by("id")


def cost_of_one_rate(rank: int) -> Quantity:
    """Return what one learning rate for all weights costs a head W = A B, in nats, by seed."""
    rates = kept("gradient").head_rate_same.where(rank=rank)
    return of_seeds(rates.column("plain_head_same_rate"), rates.column("plain_head"))


def tbat_of_truncated_head() -> Quantity:
    """Return the TBAT of full rank by the SVD of rank 16 of its head, over seeds."""
    table: Table = kept("replication").tbat_approximation
    return of_seeds(table.column("value", measure="tbat_approximation", rank=288, approximation=16))


def verdict(sentence: str) -> str:
    """Return the verdict on a sentence of the thesis."""
    (found,) = sentences.column("verdict", id=sentence, truth=None)
    return found
