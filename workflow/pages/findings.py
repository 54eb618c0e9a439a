"""Numbers of docs/findings.md beside those that pages share."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from statistics import correlation

from oversmoothing.tables.quantities import (
    SIGNIFICANT,
    Quantity,
    Table,
    across_ranks,
    below,
    of_seeds,
    paired,
    percent,
    share_of_means,
    slope,
)
from pages.expectations import (
    added_by_norm_of_gemma,
    gains_by_gemma,
    gemma_forces_more,
    truncated_gemma_as_expected,
)
from pages.kept import (
    NAMES,
    PARTS,
    TRUTHS,
    added,
    added_by_parts,
    after_equal_steps,
    after_learning_on,
    after_learning_on_at_32,
    at_equal_loss,
    at_equal_validation_loss,
    beside_fewer_bytes,
    equal_loss,
    full_heads,
    full_heads_beside_other_steps,
    kept,
    less_stopped_trunk,
    less_stopped_trunk_at_32,
    published,
    real_head,
    square,
    starred,
    wide_square,
)
from pages.scale import (
    FORCED_SHARE,
    STAYS,
    TRUTHS_OF_LADDER,
    at_equal_loss_by_rung,
    by_rung,
    grown,
    growth_by_size,
    growth_of_leak,
    growth_of_shares,
    held_out,
    held_out_above_largest,
    hits_at_fifth_size,
    hits_elsewhere,
    intervals_above,
    largest,
    megabytes,
    million,
    miss_at_rank_4,
    miss_at_rank_16,
    none_above_by_smollm2,
    of_law,
    outcome_of_tto,
    places_held_out,
    ranks_without_law_of_rest,
    shares_by_size,
    text_adds_to_leak,
    thesis_tto_came,
    thesis_tto_predicted,
    widest_at_equal_loss,
)
from pages.vocabularies import (
    at_each,
    cost_of_span,
    forced_of_smollm2,
    growths,
    held_above_fitted_rises,
    less_after_fewer_steps,
    listed,
    more_tokens_need_fewer,
    most_held_above_fitted,
    rank_needed_at_first,
    rank_that_would_overturn,
    ranks_by_vocabulary,
    short_needs_fewer,
    smollm2_found_wider,
    trained_above_best,
)
from studies.size_ladder.parts import OWN
from studies.size_ladder.table import REST

__all__ = [  # what the source names of other pages
    "at_each",
    "cost_of_span",
    "forced_of_smollm2",
    "gains_by_gemma",
    "gemma_forces_more",
    "growth_by_size",
    "growth_of_leak",
    "growth_of_shares",
    "growths",
    "held_above_fitted_rises",
    "held_out",
    "held_out_above_largest",
    "hits_at_fifth_size",
    "hits_elsewhere",
    "intervals_above",
    "largest",
    "less_after_fewer_steps",
    "listed",
    "megabytes",
    "million",
    "miss_at_rank_4",
    "miss_at_rank_16",
    "more_tokens_need_fewer",
    "most_held_above_fitted",
    "none_above_by_smollm2",
    "rank_needed_at_first",
    "rank_that_would_overturn",
    "ranks_by_vocabulary",
    "ranks_without_law_of_rest",
    "shares_by_size",
    "short_needs_fewer",
    "smollm2_found_wider",
    "text_adds_to_leak",
    "thesis_tto_came",
    "thesis_tto_predicted",
    "trained_above_best",
    "truncated_gemma_as_expected",
    "widest_at_equal_loss",
]

RANKS = (4, 8, 12, 16, 32, 128, 288)
replication, short, long = kept("replication"), kept("smollm2"), kept("smollm2_long")


# Does a low rank leak more because it predicts worse?
highest_at_equal_validation_loss = max(number.high for number in at_equal_validation_loss.all("tto"))
_starred = partial(starred, decimals=4, mark=" *")
beside_full_heads = [
    (
        rank,
        *(_starred(at_equal_loss(metric, rank, truth)) for metric in ("tto", "kl") for truth in TRUTHS),
        *(after_equal_steps("tto", rank, truth) for truth in TRUTHS),
    )
    for rank in RANKS[:-1]
]


beside_heads_that_see_fewer_bytes = [
    (rank, *(_starred(beside_fewer_bytes(metric, rank, truth)) for metric in ("tto", "kl") for truth in TRUTHS))
    for rank in RANKS[:-1]
]


def fewer_bytes_concave(truth: str) -> bool:
    """Return whether TTO of full heads that see 1 to 4 bytes rises ever more slowly with their loss."""
    arms = [f"bn288-context{n}" for n in (4, 3, 2, 1)]
    losses, leaks = (
        [full_heads(measure, arm, of).value for arm in arms] for measure, of in (("loss", None), ("tto", truth))
    )
    slopes = [(b - a) / (y - x) for (x, y), (a, b) in zip(pairwise(losses), pairwise(leaks), strict=True)]
    return slopes == sorted(slopes, reverse=True)


OTHER_FULL_HEADS = {f"bn288-context{n}": f"sees the last {n} bytes" for n in (2, 3, 4)} | {
    "bn288-layers1": "has one layer"
}
other_full_heads = [
    (
        name,
        *(_starred(full_heads_beside_other_steps(metric, arm, truth)) for metric in ("tto", "kl") for truth in TRUTHS),
    )
    for arm, name in OTHER_FULL_HEADS.items()
]


def correlation_with_loss(*ranks: int) -> Quantity:
    """Return Pearson's r over ranks of TTO by the own truth and validation loss, its mean over seeds."""
    losses = replication.losses.where("validation_loss", kind="family")
    return across_ranks(correlation, ranks, losses, replication.oversmoothing.where("tto", truth="truth"))


def slope_of_kl(truth: str) -> Quantity:
    """Return by how much KL rises with the loss on the same text, over ranks, its mean over seeds."""
    losses = replication.losses.where("loss", kind="family")
    return across_ranks(slope, RANKS, losses, replication.oversmoothing.where("kl", truth=truth))


correlation_over_all_ranks = equal_loss("tto_correlation", truth="truth")
truncated_heads = kept("gradient_wide").paired_ranks.where("tto", kind="svd", less="equal loss")
other_heads = kept("explanations").explanations.where("tto", law=None, less="equal loss").by("rank", "kind")
two_softmaxes_after_long_training = kept("explanations_long").explanations("tto", 4, kind="mos2", less="equal loss")
judged = kept("equal_loss").sample_quality.where(kind=["human", "truth"]).by("measure", "model")
level_of_samples = equal_loss.where(less=None, kind="family")
published_mauve_of_rank_4 = published.table_5_3.by("model", "metric", "decoding")("4", "mauve", "pure")
samples_told_apart = [
    (measure, rank)
    for measure in ("bigram", "byte_tv", "mauve", "perplexity", "valid_words", "word_length")
    for rank in RANKS[:-1]
    if at_equal_loss(measure, rank).p < SIGNIFICANT
]

# What of the leak is the head's?
best_head_forces = short.real_truth.where("best", less=None)


def full_rank_lacks(truth: str) -> float:
    """Return the KL of full rank to a truth, the mean over seeds."""
    return of_seeds(short.forced.column("value", measure="kl", rank=288, truth=truth)).value


def trained_head_forces(rank: int) -> list[Quantity]:
    """Return which share of what a rank adds the trained head forces, by each truth, over seeds and windows."""
    return [added_by_parts("trained_of_added", rank, truth) for truth in TRUTHS]


def _shares_of_what_is_added() -> Iterator[tuple[object, ...]]:
    for rank in (4, 8, 16, 32):
        for truth in TRUTHS:
            parts = ("best_of_added", "trained_of_added") if rank < 32 else ()
            yield (
                rank,
                NAMES[truth],
                added("added", rank, truth),
                *(percent(added_by_parts(part, rank, truth)) for part in parts),
                *("-" for _ in range(2 - len(parts))),
                percent(added("forced_of_added", rank, truth)),
            )


shares_of_what_is_added = list(_shares_of_what_is_added())


def _by_seed(table: Table, measure: str, rank: int, truth: str) -> Table:
    return table.where(measure, rank, truth, less="full rank")


difference_between_truths = paired(*(_by_seed(short.best_head, "trained_of_added", 4, truth) for truth in TRUTHS[::-1]))

# After four times the steps.
added_after_long_training = long.forced.where(less="full rank", seed=None)


def change_of_forced(rank: int, truth: str) -> Quantity:
    """Return how the share of what a rank adds that its head behind the norm forces changes with longer training."""
    return paired(*(_by_seed(run.forced, "forced_of_added", rank, truth) for run in (long, short)))


def change_of_trained(truth: str) -> Quantity:
    """Return the change of that share at rank 4 without the LayerNorm."""
    return paired(*(_by_seed(run.best_head, "trained_of_added", 4, truth) for run in (long, short)))


def change_of_share_of_kl(truth: str) -> Quantity:
    """Return the change of the share of all KL that rank 4 forces."""
    return paired(*(run.forced.where("share", 4, truth) for run in (long, short)))


def _forced_by_law(sequences: int) -> Quantity:
    costs = kept("law").known_law.where(law="full", kind="family", truth="law", sequences=sequences, less="rank 288")
    return share_of_means(*(costs(measure, 4) for measure in ("forced", "kl", "rest")))


forced_by_law, forced_by_law_with_more_text = _forced_by_law(1800), _forced_by_law(7200)
shares_after_long_training = [
    *(
        (
            name,
            percent(added("forced_of_added", 4, truth)),
            percent(added_after_long_training("forced_of_added", 4, truth)),
            change_of_forced(4, truth),
            change_of_forced(8, truth),
        )
        for truth, name in (("truth", "own, as long-trained"), ("smollm2", "SmolLM2"))
    ),
    ("a known law, four times the text too", percent(forced_by_law), percent(forced_by_law_with_more_text), "-", "-"),
]
loss_of_full_rank = long.losses.all("validation_loss", arm="bn288")
loss_of_truth, loss_of_short_truth = (long.losses("validation_loss", model=name) for name in ("truth", "truth-short"))
large_models_force = kept("workstation").forced("forced_of_added_at_most", 4, less="full rank")
less_full_rank_after_long_training = long.real_truth.where("tto", less="rank 288")
widest_gap = max(short.forced.all("gap") + short.best_head.all("gap"))

# Does a narrow head harm the layers before it?
TRUNKS = {f"pl{rank}": f"a head of rank {rank}" for rank in (4, 8, 16)} | {"bw4": "a gradient of rank 4"}
leak_less_stopped_trunk = less_stopped_trunk("tto", "pl4", "all", truth="truth")
trunks_after_learning_on = [
    (
        width,
        name,
        *(percent(after("loss_stays", arm, part)) for part in PARTS),
        *(less_stopped("loss", arm, part) for part in PARTS),
    )
    for width, after, less_stopped in (
        (288, after_learning_on, less_stopped_trunk),
        (32, after_learning_on_at_32, less_stopped_trunk_at_32),
    )
    for arm, name in TRUNKS.items()
]

# What can the head of a model in use not say?
head_over_tokens_forces = kept("subword").forced.where("share").by("rank")
widest_gap_of_real_head = max(kept("real_head").real_head.all("gap", rank=None))
share_where_rare, share_where_common = (
    max(real_head.all(measure, truth="all")) for measure in ("share_rare", "share_common")
)

norm_adds_little_to_gemma = below(added_by_norm_of_gemma, 0.03)
most_added_by_norm_of_gemma = max(number.high for number in added_by_norm_of_gemma)

# What of it is the trunk's?
recovered, recovered_wide = (1 - table("loss_share", 4, "full_head") for table in (square, wide_square))
head_less_gradient = kept("gradient").paired_ranks.where("loss", less="backward", kind="plain")
at_optimum = kept("optimum").closed_square("loss_share", 4, kind="full_head")

# What does the truth hide?
against_models_less_law = kept("law").known_law.where("tto", law="full", kind="family", sequences=1800, less="law")
stand_ins_less_law = kept("law_standins").known_law.where("tto", kind="family", less="law")
stand_ins_change_excess = kept("law_standins").known_law.where("tto", kind="family", less="law, of its excess")


# What does decoding mend?
def decoded_tto(truth: str, rank: int, decoding: str) -> Quantity:
    """Return TTO under a decoding, over seeds."""
    table = replication.decodings.where("tto", rank, truth, kind="family")
    return of_seeds(table.column("value", decoding=decoding))


tto_by_decoding = [
    (name, *(decoded_tto(truth, rank, how) for rank in (4, 8, 288) for how in ("pure", "greedy")))
    for truth, name in (("truth", "own truth"), ("smollm2", "SmolLM2"))
]


def left_by_greedy(truth: str, rank: int) -> Quantity:
    """Return which share of the leak under pure sampling greedy decoding leaves, over seeds."""
    table = replication.decodings.where("tto", rank, truth, kind="family")
    pure, greedy = (table.where(decoding=how) for how in ("pure", "greedy"))
    return share_of_means(of_seeds(greedy.column("value")), of_seeds(pure.column("value")), paired(pure, greedy))


# What would lift it?
more_than_as_many_operations = (
    kept("explanations").explanations.where("tto", 4, law=None, less="equal operations").by("kind")
)


# Where does a rank's cost go as models grow?
rank_4_by_rung = by_rung(4, ("tto", "kl", FORCED_SHARE))
growth_of_rank_4 = [grown(metric, 4, truth) for metric in ("tto", "kl") for truth in TRUTHS_OF_LADDER]
growth_of_ranks_8_and_16 = [grown("tto", rank, truth) for rank in (8, 16) for truth in TRUTHS_OF_LADDER]
growth_of_rest = [grown(REST, 4, truth) for truth in TRUTHS_OF_LADDER]
least_at_equal_loss_by_smollm2 = max(at_equal_loss_by_rung[STAYS])
exponent_of_size = of_law("tto", "of_size", 4, OWN)
fifth_tto_predicted, fifth_tto_came = outcome_of_tto(places_held_out[-1])
