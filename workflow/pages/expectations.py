"""Numbers and answers of docs/expectations.md beside those that pages share.

An answer is *yes* if all intervals lie where they were expected, *no* if one lies elsewhere, else *open*.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from oversmoothing.tables.quantities import (
    SIGNIFICANT,
    Quantity,
    Table,
    above,
    below,
    by_seed,
    digits,
    of_seeds,
    paired,
)
from pages.kept import (
    PARTS,
    TRUTHS,
    along_godey,
    at_equal_loss,
    at_equal_loss_by_three_truths,
    beside_fewer_bytes,
    between_truths,
    by_three_truths,
    gemma_head,
    kept,
    level_by_three_truths,
    none_saturates,
    real_head,
    three,
    truncated_gemma_head,
    truncated_real_head,
    verdict,
)
from pages.other_heads import (
    LAYERS,
    after_400_steps,
    after_1600_steps,
    at_width_288,
    highest_of_larger_rates,
    highest_rate_after_1600_steps,
    lowest_rate_after_1600_steps,
    under_zeros,
)
from pages.scale import (
    FORCED_SHARE,
    STAYS,
    TRUTHS_OF_LADDER,
    at_equal_loss_by_rung,
    effective_ranks_of_rank_4,
    grown,
    held_at_fifth_size,
    held_elsewhere,
    hits_at_fifth_size,
    hits_elsewhere,
    largest,
    megabytes,
    million,
    smallest,
    thesis_tto_predicted,
)
from pages.vocabularies import (
    at_each,
    cost_of_span,
    growths,
    held_above_fitted,
    listed,
    most_held_above_fitted,
    needs,
    other_start_above,
    other_start_above_where_much,
    rank_needed_at_first,
    ranks_for_targets,
    short_needs_fewer,
    smollm2_needs_over_128,
    span_costs_less_than_a_third,
)
from studies.leak_at_equal_loss.table import ON_WINDOWS
from studies.size_ladder.parts import OWN
from studies.size_ladder.table import REST

__all__ = [  # what the source names of other pages
    "at_equal_loss_by_rung",
    "cost_of_span",
    "held_above_fitted",
    "hits_at_fifth_size",
    "hits_elsewhere",
    "largest",
    "listed",
    "megabytes",
    "million",
    "most_held_above_fitted",
    "other_start_above_where_much",
    "rank_needed_at_first",
    "ranks_for_targets",
    "short_needs_fewer",
    "smallest",
    "smollm2_needs_over_128",
    "thesis_tto_predicted",
]


def answer(yes: bool, no: bool = False) -> str:
    """Return yes, no or open."""
    return "yes" if yes else "no" if no else "open"


def is_above(numbers: Sequence[Quantity], bound: float = 0) -> str:
    """Return whether numbers are above a bound, judged by their intervals."""
    return answer(above(numbers, bound), no=any(number.high < bound for number in numbers))


def is_below(numbers: Sequence[Quantity], bound: float = 0) -> str:
    """Return whether numbers are below a bound, judged by their intervals."""
    return answer(below(numbers, bound), no=any(number.low > bound for number in numbers))


def is_within(numbers: Sequence[Quantity], low: float, high: float) -> str:
    """Return whether numbers are between two bounds, judged by their intervals; a mean outside of them is a no."""
    within = above(numbers, low) and below(numbers, high)
    return answer(within, no=any(not low <= number.value <= high for number in numbers))


def is_shown_below(numbers: Iterable[Quantity]) -> str:
    """Return whether one of several differences is shown to be below 0, after correction."""
    return "some shown" if any(number.high < 0 and number.p < SIGNIFICANT for number in numbers) else "none shown"


def both(numbers: Iterable[float]) -> str:
    """Return two numbers, such as those by the two truths or of two texts."""
    return " and ".join(digits(number) for number in numbers)


# The thesis's experiment.
def so(sentence: str) -> str:
    """Return whether a sentence of the thesis came as expected; what holds in part is open."""
    found = verdict(sentence)
    known = {"holds": "yes", "contradicted": "no", "open": "open", "holds in part": "open"}
    return known.get(found, found)


def _rank_32_less_full(truth: str) -> Quantity:
    scores = kept("replication").oversmoothing.where("tto", truth=truth, decoding="pure")
    return of_seeds(*(scores.column("value", rank=rank) for rank in (32, 288)))


rank_32_less_full = [_rank_32_less_full(truth) for truth in TRUTHS]


def fails_by_more_at_rank_4(truth: str) -> bool:
    """Return whether rank 4 beside fewer bytes is outside 0.015 by more than its difference from other steps."""
    return abs(beside_fewer_bytes("tto", 4, truth)) - 0.015 > abs(at_equal_loss("tto", 4, truth))


# Harm or absence.
def gradient_and_head(after: Table) -> str:
    """Return losses of the trunks behind a gradient and behind a head of rank 4, once each part has learned on."""
    return "; ".join(" and ".join(digits(after("loss", arm, part).value) for arm in ("bw4", "pl4")) for part in PARTS)


def gradient_does_as_head(after: Table) -> str:
    """Return "no" if they differ by more than 0.05 nats in any part, else "open", as there is no interval."""
    differences = [abs(after("loss", "bw4", part) - after("loss", "pl4", part)) for part in PARTS]
    return answer(False, no=any(difference > 0.05 for difference in differences))


def leaks_of_rank_4(less_stopped: Table) -> list[Quantity]:
    """Return by how much TTO and KL of the trunk behind rank 4 differ from a stopped trunk's, by truth and part."""
    return [number for measure in ("tto", "kl") for number in less_stopped.all(measure, "pl4")]


# Two truths.
real, prose, long = (kept(run).real_truth for run in ("smollm2", "smollm2_prose", "smollm2_long"))
STEPS = ((4, "rank 8"), (8, "rank 16"), (16, "rank 32"), (32, "rank 288"))
step_by_smollm2, step_by_smollm2_on_prose = (
    table.where("tto", truth="smollm2").by("rank", "less") for table in (real, prose)
)
steps_by_smollm2 = [step_by_smollm2(*step) for step in STEPS]
steps_by_smollm2_on_prose = [step_by_smollm2_on_prose(4, "rank 16"), step_by_smollm2_on_prose(16, "rank 288")]
VARIANTS = ["smollm2-prompt", "smollm2-cool", "smollm2-warm"]
less_full_by_variants = real.all("tto", (4, 8, 16, 32), VARIANTS, less="rank 288", kind="family")
tto_by_smollm2 = real.where("tto", truth="smollm2", less=None)
tto_of_own_truth = tto_by_smollm2(kind="truth", model="truth")
tto_of_members = tto_by_smollm2.all((4, 8, 16, 32, 288))
forced_share, forced_share_on_prose, forced_share_after_long_training = (
    table.where("forced_share", less=None) for table in (real, prose, long)
)
best_share, best_share_after_long_training = (table.where("best_share", 4, less=None) for table in (real, long))


def _share_of_trained_head(run: str, truth: str) -> Table:
    """Return by seed which share of KL the trained head of rank 4 forces behind its LayerNorm."""
    parts = kept(run).best_head
    rest, whole = (parts.where(part, 4, truth, less=None, seed=[1, 2, 3, 4, 5]).frame for part in ("rest", "kl"))
    share = rest.set_index("seed").value / whole.set_index("seed").value
    return Table(run, (1 - share).reset_index())


change_of_forced_share = [
    paired(_share_of_trained_head("smollm2_long", truth), _share_of_trained_head("smollm2", truth)) for truth in TRUTHS
]
rank_4_less_full, rank_4_less_full_after_long_training = (
    [table("tto", 4, truth, less="rank 288") for truth in TRUTHS] for table in (real, long)
)
stays_within_a_fifth = answer(False, no=rank_4_less_full_after_long_training[1] > 1.2 * rank_4_less_full[1])

# Other heads and objectives.
gains_of_two_softmaxes = [after_400_steps.less_linear("tto", rank, "mos2") for rank in (4, 16)]
layers_at_full_rank = after_400_steps.less_linear.all("tto", 32, LAYERS)
layers_at_equal_loss = after_400_steps.at_equal_loss.all("tto", kind=LAYERS)
least_p_at_equal_loss = min(number.p for number in layers_at_equal_loss)
largest_gain_at_rank_4 = -min(number.value for number in after_400_steps.less_linear.all("tto", 4))


def leaks_less_and_loses_more(objective: str) -> str:
    """Return whether an objective lowers TTO and raises the loss at full rank."""
    tto, loss = (after_400_steps.less_linear(measure, 32, objective) for measure in ("tto", "loss"))
    return answer(tto.high < 0 < loss.low)


TRAINED_LONGER = ["plain", "mos2", "mfs3", "two_layer"]


def gain_at_rank_4(kind: str) -> str:
    """Return by how much a head of rank 4 lowers TTO after 400 steps, and after 1,600."""
    gains = (run.less_linear("tto", 4, kind).decrease for run in (after_400_steps, after_1600_steps))
    return "from {} to {}".format(*map(digits, gains))


gains_grow = all(
    after_1600_steps.less_linear("tto", 4, kind).decrease.low
    > after_400_steps.less_linear("tto", 4, kind).decrease.high
    for kind in TRAINED_LONGER
)
above_full_head = after_1600_steps.less_full.all("tto", 4, TRAINED_LONGER)
above_equal_operations = after_1600_steps.at_equal_operations.all("tto", 4, ["mos2", "two_layer", "mfs3"])
rates_inside = "yes" if lowest_rate_after_1600_steps > 0.006 and highest_rate_after_1600_steps < 0.096 else "no"
larger_rates_below = "yes" if highest_of_larger_rates < 0.096 else "no"
softmaxes_at_width_288 = at_width_288.less_linear.all("tto", 288, ["mos2", "mfs3"])
softmaxes_of_rank_4_at_width_288 = at_width_288.less_linear.all("tto", 4, ["mos2", "mfs3"])
filtered_on_impossible_bytes = under_zeros.less_full("impossible", 32, "filtered")

# Stand-ins for a law.
_stand_ins = kept("law_standins").known_law.where("tto", kind="family").by("rank", "truth")
stand_ins_less_law = _stand_ins.where(less="law")
_change_of_excess = _stand_ins.where(less="law, of its excess")


def hidden_by(stand_in: str) -> str:
    """Return by how much a stand-in changes TTO at ranks 4 and 288."""
    return both(stand_ins_less_law(rank, stand_in) for rank in (4, 288))


def uneven(stand_in: str) -> str:
    """Return by how much a stand-in changes the excess of ranks 4 and 16 over full rank."""
    return " and ".join(digits(_change_of_excess(rank, stand_in), 4) for rank in (4, 16))


def is_even(stand_in: str) -> str:
    """Return whether a stand-in changes the excess of no rank by 0.01."""
    return is_within(_change_of_excess.all(truth=stand_in), -0.01, 0.01)


of_truths_shape, of_two_layers, of_other_text = (
    stand_ins_less_law(4, stand_in).value for stand_in in ("stand-ins", "two_layers", "other_text")
)
two_layers_as_expected = "no" if of_two_layers < of_truths_shape - 0.01 else is_even("two_layers")
other_text_as_expected = "no" if of_other_text < of_truths_shape / 2 else is_even("other_text")
warm_is_uneven = _change_of_excess(4, "stand-ins at 1.25").high < -0.01

# Heads at their optimum.
at_optimum = kept("optimum").closed_square.where("loss_share", 4).by("kind")


# A head in use.
TEXTS = ("manual", "web")


def by_text(measure: str, truth: str = "all", head: Table = real_head) -> str:
    """Return a number of a head, SmolLM2's unless another is given, on the manual and on web pages."""
    return " and ".join(digits(head(measure, text, truth)) for text in TEXTS)


def _largest(numbers: Iterable[Quantity]) -> str:
    return f"{max(number.high for number in numbers):.1g}"


def gains_more(truth: str, other: str) -> bool:
    """Return whether a truth gains more than another on both texts, by intervals that do not meet."""
    return all(real_head("gain", text, truth).low > real_head("gain", text, other).high for text in TEXTS)


gains_of_all_memories, added_by_norm = (real_head.all(of, truth="all") for of in ("gain", "norm_added"))
share_on_manual = real_head("share", "manual", "all")
share_between_a_tenth_and_a_half = (
    "open"
    if share_on_manual.low < 0.1 < share_on_manual.high
    else is_within(real_head.all("share", truth="all"), 0.1, 0.5)
)
share_larger_where_rare = answer(
    False, no=real_head("share_rare", "web", "all").high < real_head("share_common", "web", "all").low
)
forced_of_own_truths = real_head.all("forced", truth=["longer", "flatter"])
norm_forced_of_longer = real_head.all("norm_forced", truth="longer")
largest_forced_of_own_truths, largest_norm_forced_of_longer = map(
    _largest, (forced_of_own_truths, norm_forced_of_longer)
)
rank_64_forces = truncated_real_head.all("forced", 64)
norm_outside = [real_head("norm_outside", text, "all").value for text in TEXTS]

# A second one: Gemma's.
gains_by_gemma, added_by_norm_of_gemma = (gemma_head.all(of, truth="all") for of in ("gain", "norm_added"))
_shares = [(gemma_head("share", text, "all"), real_head("share", text, "all")) for text in TEXTS]
gemma_forces_more = answer(
    all(own.low > other.high and own.high < 2 * other.low for own, other in _shares),
    no=any(own.high < other.low or own.low > 2 * other.high for own, other in _shares),
)
_alone = [
    (gemma_head("share", text, "ngram"), [gemma_head("share", text, name) for name in ("neural", "neighbours", "all")])
    for text in TEXTS
]
ngrams_force_most_of_gemma = answer(
    all(own.low > other.high for own, others in _alone for other in others),
    no=any(own.high < other.low for own, others in _alone for other in others),
)
_rare = [(gemma_head("share_rare", text, "all"), gemma_head("share_common", text, "all")) for text in TEXTS]
gemma_forces_less_where_rare = answer(
    all(rare.high < common.low for rare, common in _rare), no=any(rare.low > common.high for rare, common in _rare)
)
forced_of_own_truths_of_gemma = gemma_head.all("forced", truth=["longer", "flatter"])
largest_forced_of_own_truths_of_gemma = _largest(forced_of_own_truths_of_gemma)
quarter_of_gemma_forces, half_of_gemma_forces = (truncated_gemma_head.all("forced", rank) for rank in (160, 320))
truncated_gemma_as_expected = answer(
    above(quarter_of_gemma_forces, 0.4)
    and all(
        2 * half.high < quarter.low for half, quarter in zip(half_of_gemma_forces, quarter_of_gemma_forces, strict=True)
    ),
    no=any(number.high < 0.4 for number in quarter_of_gemma_forces),
)

# A second real truth.
REAL = ("smollm2", "gemma")
steps_by_gemma = [by_three_truths(low, "gemma", less=f"rank {high}") for low, high in pairwise((4, 8, 12, 16, 32))]
full_rank_by_gemma_less_smollm2 = by_three_truths(288, "gemma", less="smollm2")
_real_pairs = [(between_truths(model, truth), level_by_three_truths(288, truth)) for model, truth in (REAL, REAL[::-1])]
real_models_agree = answer(
    all(each.high < full.low / 3 for each, full in _real_pairs),
    no=any(each.low > full.high / 3 for each, full in _real_pairs),
)


def _added_leak(truth: str) -> list[float]:
    low, full = (
        by_seed(three.oversmoothing.where("tto", truth=truth, arm=arm, decoding="pure")) for arm in ("bn4", "bn288")
    )
    return [low[seed] - full[seed] for seed in sorted(low)]


added_leak_by_gemma_less_smollm2 = of_seeds(_added_leak("gemma"), _added_leak("smollm2"))
added_leak_less_own = [of_seeds(_added_leak(truth), _added_leak("truth")) for truth in REAL]
shares_by_real_truths = [
    three.forced.over_windows()("forced_of_added", 4, truth, less="full rank", seed=None) for truth in REAL
]
leaks_of_low_ranks = at_equal_loss_by_three_truths.all("tto", (4, 8, 12), REAL)
leaks_by_real_truths = at_equal_loss_by_three_truths.all("tto", truth=REAL)
divergences_of_rank_4 = at_equal_loss_by_three_truths.all("kl", 4, REAL)

# As models grow.
grown_at_rank_4 = {
    name: grown(measure, 4, truth)
    for name, measure, truth in (
        ("loss", ON_WINDOWS, None),
        *((f"{metric} {truth}", metric, truth) for metric in ("tto", "kl") for truth in TRUTHS_OF_LADDER),
    )
}
grown_at_rank_16 = [grown("tto", 16, truth) for truth in TRUTHS_OF_LADDER]
share_grown, rest_grown = ({truth: grown(of, 4, truth) for truth in TRUTHS_OF_LADDER} for of in (FORCED_SHARE, REST))
share_falls_less_by_smollm2 = answer(
    share_grown[OWN].high < share_grown[STAYS].low, no=share_grown[STAYS].high < share_grown[OWN].low
)
list_of_growth = list(grown_at_rank_4.values())
least_effective_rank = min(effective_ranks_of_rank_4)


def least_effective_rank_is_above(bound: float) -> str:
    """Return whether all effective ranks of what enters a head of rank 4 are above a bound, one of them of one seed."""
    return answer(least_effective_rank > bound, no=least_effective_rank <= bound)


_share_held = held_at_fifth_size[0] / held_at_fifth_size[1]
most_at_fifth_size = answer(_share_held > 0.8, no=_share_held <= 0.8)
fewer_than_half_elsewhere = answer(
    all(2 * yes < of for yes, of in held_elsewhere), no=all(2 * yes >= of for yes, of in held_elsewhere)
)

# How many dimensions a vocabulary needs.
EXPECTED_OF_BYTES = {0.1: (5, 12), 0.01: (14, 30), 0.001: (32, 80)}
bytes_need_as_expected = answer(
    (_within := all(low <= needs("truth", 256, nats) <= high for nats, (low, high) in EXPECTED_OF_BYTES.items())),
    no=not _within,
)
tokens_need_as_expected = answer(
    (_more := needs("truth", 8192, 0.1) > 64 and needs("truth", 8192, 0.01) > 256), no=not _more
)
span_costs_little = answer(span_costs_less_than_a_third, no=cost_of_span > 1 / 3)
grows_as_expected = is_within(growths[:1], 0.4, 1)
starts_agree = answer(other_start_above < 0.1, no=other_start_above >= 0.1)
_at_16 = list(zip(at_each("best", 16), at_each("trained", 16), strict=True))
best_below_trained_at_16 = answer(
    all(best.high < trained.low for best, trained in _at_16), no=any(best > trained for best, trained in _at_16)
)
trained_forces_most = is_above(at_each("trained_of_added", 4), 0.5)

# Godey et al. (2024).
_imposed, _entropies = kept("godey").imposed_rank, along_godey("singular_entropy")
no_model_saturates = answer(none_saturates, no=not none_saturates)
number_of_trainings = len(_entropies)
ends_highest = sum(entropies[-1] == max(entropies) for entropies in _entropies)
entropy_rises_to_the_end = answer(ends_highest == number_of_trainings, no=ends_highest < number_of_trainings)
_retrained = {rank: _imposed.where("loss", kind="retrained", rank=rank) for rank in (4, 8, 16, 32, 64, 128)}
steps_of_retrained = [paired(_retrained[low], _retrained[high]) for low, high in pairwise(_retrained)]
_trained = _imposed.where("loss", kind="family", rank=288)
rank_128_less_trained = paired(_retrained[128], _trained)
one_percent_of_loss = sum(_trained.column("value")) / len(_trained.frame) / 100
