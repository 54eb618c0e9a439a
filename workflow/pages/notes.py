"""Numbers of docs/notes.md beside those that pages share."""

from oversmoothing.tables.quantities import Quantity, Table, digits, of_seeds, percent, spread
from pages.kept import above_full_pair, in_place_of_full_head, in_place_of_gradient, kept, published, square

default = kept("default")
TRUTHS_OF_SEEDS = ["truth-11", "truth-12", "truth-13"]
RANKS_OF_SEEDS = (4, 8, 16, 32, 288)

# How much probability leaks?
tto = default.oversmoothing.where("tto").by("rank")
pooled_tto = default.decodings_pooled.where("tto", 4).by("decoding")
across_seeds = kept("seeds").across_seeds
level = across_seeds.where(truth=None, less=None).by("measure", "rank", "kind")
floor_of_models, floor_of_truths = (
    across_seeds.where(truth=None, note=note).by("measure") for note in ("full models", "truths")
)
step_to = across_seeds.where("tto", truth=None).by("rank", "less", "kind")
without_norm_less_with = step_to.where(less="family", kind="plain")
NEXT = {4: "rank 8", 8: "rank 16", 16: "rank 32", 32: "rank 288"}
steps = across_seeds.all("tto", less=list(NEXT.values()))


def _step(rank: int, kind: str) -> Quantity | str:
    known = rank in NEXT and (kind, rank) != ("plain", 32)
    return step_to(rank, NEXT[rank], kind) if known else "-"


tto_by_rank = [
    *(
        (
            rank,
            level("tto", rank, "family"),
            _step(rank, "family"),
            level("tto", rank, "plain"),
            _step(rank, "plain"),
            without_norm_less_with(rank),
        )
        for rank in RANKS_OF_SEEDS[:-1]
    ),
    (288, level("tto", 288), "-", "-", "-", "-"),
]
spread_of_seeds = max(
    spread(kept("seeds").oversmoothing.column("value", measure="tto", kind="family", rank=rank, truth=truth))
    for rank in RANKS_OF_SEEDS
    for truth in TRUTHS_OF_SEEDS
)


def above_floor(metric: str) -> bool:
    """Return whether every rank lies above what two full models of different seeds show against each other."""
    floor = floor_of_models(f"{metric}_floor")
    return all(rank.low > floor.high for rank in level.all(metric, kind="family"))


full_rank_above_floor = level("tto", 288) - floor_of_models("tto_floor")
rank_4_above_full_rank = level("tto", 4, "family") - level("tto", 288)
_by_truth = [across_seeds.all("tto", rank, kind="family", truth=TRUTHS_OF_SEEDS, less=None) for rank in RANKS_OF_SEEDS]
range_of_truths = max(max(levels) - min(levels) for levels in _by_truth)

# How much of it does the head force?
forced, best = default.forced, default.best_head
free_head_forces_at_rank_4 = (best("rank", 4) + best("head", 4)) / best("kl", 4)
percent_forced_at_rank_4 = 100 * forced("share", 4)

# What does a model as truth hide?
_laws = kept("law").known_law.where(kind="family")


class Law:
    """What members that learned the text of a law show against it, and against stand-ins for it."""

    def __init__(self, table: Table) -> None:
        self.against = table.where(less=None)
        self.less_law = table.where(less="law").by("measure", "rank")
        self.excess = table.where(less="rank 288", truth="law").by("measure", "rank")
        self.change_of_excess = table.where(less="law, of its excess").by("measure", "rank")

    def hidden(self) -> float:
        """Return which share of the TTO of full rank stand-ins hide."""
        return -self.less_law("tto", 288) / self.against("tto", 288, "law")

    def percent_forced(self, rank: int, truth: str = "law") -> float:
        """Return how many percent of all KL to a truth the head of a rank forces."""
        return 100 * self.against("forced", rank, truth) / self.against("kl", rank, truth)


full, full_with_more_text = (Law(_laws.where(law="full", sequences=sequences)) for sequences in (1800, 7200))
rank8, rank8_with_more_text = (Law(_laws.where(law="rank8", sequences=sequences)) for sequences in (1800, 7200))
zeros = Law(_laws.where(law="zeros"))
against_full_law = [
    (
        rank,
        full.against("tto", rank, "law"),
        full.against("tto", rank, "stand-ins"),
        full.less_law("tto", rank),
        digits(full.change_of_excess("tto", rank), 4) if rank < 288 else "-",
    )
    for rank in (4, 8, 16, 288)
]
limit_of_more_text = _laws.where(law="full").by("measure", "rank")

_stand_ins = kept("law_standins").known_law.where("tto", kind="family")
stand_ins_less_law = _stand_ins.where(less="law")
stand_ins_change_excess = _stand_ins.where(less="law, of its excess")
excess_of_rank_4 = _stand_ins(4, "law", less=None) - _stand_ins(288, "law", less=None)
stand_ins_by_kind = [
    (
        words,
        *(stand_ins_less_law(rank, truth) for rank in (4, 16, 288)),
        digits(stand_ins_change_excess(4, truth), 4),
    )
    for words, truth in (
        ("of the truth's shape", "stand-ins"),
        ("with two layers", "two_layers"),
        ("of another, longer text", "other_text"),
        ("at temperature 0.8", "stand-ins at 0.8"),
        ("at temperature 1.25", "stand-ins at 1.25"),
    )
]

share_forced, share_of_best_head = (
    kept("smollm2").real_truth.where(share, 4, less=None) for share in ("forced_share", "best_share")
)

rejected_by_rank = [
    (
        rank,
        zeros.against("impossible", rank),
        zeros.against("harm", rank),
        *(zeros.against("caught", rank, decoding=how) for how in ("bat 0.22", "top-p", "min-p", "eta")),
    )
    for rank in (4, 8, 16)
]

# Expressivity or optimisation?
paired, wide_paired = (
    kept(run).paired_ranks.by("measure", "rank", "kind", "less") for run in ("gradient", "gradient_wide")
)
at_same_loss, wide_at_equal_loss = (table.where(less="equal loss") for table in (paired, wide_paired))
wide_in_place_of_full_head = wide_paired.where(less="full")
murugans_excess = published.murugan_2026.where(way="plain head from scratch, less gradient alone").by("rank")
exchanged_heads = [
    (
        rank,
        *(above_full_pair("loss", rank, kind) for kind in ("full_head", "retrained", "own_trunk")),
        percent(square("loss_share", rank, "full_head")) if rank < 16 else "-",
    )
    for rank in (4, 8, 16)
]


def percent_left(share: str, rank: int) -> float:
    """Return how many percent of what a narrow head costs a full head on its trunk still loses."""
    return 100 * square(share, rank, "full_head")


ranks_of_gradient = [
    (
        rank,
        *(in_place_of_full_head("loss", rank, kind) for kind in ("backward", "plain", "family")),
        in_place_of_gradient("loss", rank, "plain"),
        murugans_excess(rank).value,
    )
    for rank in (4, 8, 16)
]
limited_at_same_loss = at_same_loss.all("tto", kind=["family", "plain", "backward"])
second_head_less_full = kept("gradient").closed_square.where("loss", kind="second", less="full").by("rank")
alone_less_beside = paired.where(kind="plain", less="beside")
plain_less_normed = paired.where(kind="plain", less="family")


def percent_passing(kind: str, rank: int, step: int) -> float:
    """Return how many percent of the squared gradient of the logits pass a head, over seeds."""
    passes = kept("gradient").gradient.where("gradient_share", rank, kind=kind, step=step)
    return 100 * of_seeds(passes.column("value"))


# How much of the cost is the recipe?
murugan = kept("murugan").paired_ranks.by("measure", "rank", "kind", "less")
his_gradient_alone = published.murugan_2026(rank=4, way="gradient alone")
starts_by_rank = [
    (
        rank,
        murugan("loss", rank, "backward", "full"),
        murugan("loss", rank, "plain", "backward"),
        murugan("loss", rank, "matched", "backward"),
        murugan("loss", rank, "plain", "matched"),
    )
    for rank in (4, 8, 16)
]

# Does a head slow learning where d is far below v?
draws = kept("repeated").repeated_symbols.by("measure", "kind", "vocabulary")
octaves = draws.where("draws_octaves", vocabulary=16384)
draws_by_head = [
    (
        words,
        *(digits(draws("draws", kind, size), 2) for size in (256, 1024, 4096, 16384)[:sizes]),
        *("-" for _ in range(4 - sizes)),
    )
    for words, kind, sizes in (
        ("full head, *d* = 32", "full", 4),
        ("full head with 16,384 classes", "unused", 3),
        ("head alone, on a frozen trunk", "alone", 4),
        ("table of logits, no bottleneck", "table", 3),
    )
]

above_law_of_losses = default.saturation.where("above_last").by("rank")
singular_entropy = kept("subword").along_training.where("singular_entropy").by("rank", "step")
_language = default.language_dimensionality.where(text="train", token="byte pair", context=4)
lost_of_language, lost_without_noise = (
    _language.where(measure).by("dimensions") for measure in ("w_error", "without_noise")
)
contexts_seen_twice = _language("contexts_seen", dimensions=None) / _language("contexts", dimensions=None)
