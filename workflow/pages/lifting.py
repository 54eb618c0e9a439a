"""Numbers of docs/lifting.md beside those that pages share."""

from collections.abc import Iterable

from oversmoothing.tables.quantities import Quantity, digits
from pages.other_heads import (
    COSTLY,
    LAYERS,
    Compared,
    after_400_steps,
    after_1600_steps,
    at_width_288,
    chosen_rates,
    under_full,
    under_rank8,
    under_zeros,
)
from pages.other_heads import highest_of_larger_rates as highest_of_larger_rates
from pages.other_heads import highest_rate_tried as highest_rate_tried

LOWER_RATE = 0.024
OBJECTIVES = {
    "tailr": "TaiLr, gamma 0.1",
    "mixce": "MixCE, eta 0.5",
    "label-smoothing": "label smoothing, 0.05",
    "filtered": "gradient filtered below 2^-12",
}


def learning_rates(*arms: str) -> str:
    """Return the learning rates that trials chose for arms."""
    return ", ".join(digits(chosen_rates(arm).learning_rate) for arm in arms)


def learning_rates_of(kind: str) -> str:
    """Return the learning rates of a kind of head at ranks 4, 16 and 32."""
    return learning_rates(*(f"{kind}-bn{rank}" for rank in (4, 16, 32)))


def _size(kind: str, rank: int) -> str:
    sizes = (after_400_steps.level(of, rank, kind).value for of in ("head_parameters", "head_products"))
    return " · ".join(digits(size, 0) for size in sizes)


sizes_by_head = [
    (name, *(_size(kind, rank) for rank in (4, 16, 32)))
    for name, kind in (
        ("linear, `plain`, `softcap`, `sigsoftmax`, `monotone`", "family"),
        *((f"`{kind}`", kind) for kind in COSTLY),
    )
]


def _beside_linear(run: Compared, kind: str, rank: int) -> tuple[object, ...]:
    return (rank, f"`{kind}`", *(run.less_linear(measure, rank, kind) for measure in ("loss", "tto")))


def _beside_operations(run: Compared, kind: str, rank: int) -> tuple[object, ...]:
    comparable = kind in COSTLY and rank < 32
    more = run.at_equal_operations("tto", rank, kind) if comparable else "the same"
    return (*_beside_linear(run, kind, rank), more)


heads_after_400_steps = [
    _beside_operations(after_400_steps, kind, rank)
    for rank in (4, 16, 32)
    for kind in LAYERS
    if kind != "plain" or rank < 32
]
heads_after_1600_steps = [
    _beside_operations(after_1600_steps, kind, rank)
    for rank, kinds in ((4, ("plain", "mos2", "mfs3", "two_layer")), (16, ("plain", "mos2")))
    for kind in kinds
] + [_beside_operations(after_1600_steps, kind, 32) for kind in ("mos2", "mfs3", "two_layer")]
heads_at_width_288 = [
    _beside_linear(at_width_288, kind, rank)
    for rank, kinds in ((4, ("plain", "mos2", "mfs3")), (288, ("mos2", "mfs3")))
    for kind in kinds
]
objectives = [
    (
        rank,
        title,
        *(after_400_steps.less_linear(measure, rank, kind) for measure in ("loss", "tto")),
        after_400_steps.level("temperature", rank, kind),
        *(after_400_steps.at_equal_tto(measure, rank, kind) for measure in ("tv", "kl")),
    )
    for kind, title in OBJECTIVES.items()
    for rank in (4, 32)
]


def least_p(numbers: Iterable[Quantity]) -> float:
    """Return the smallest of the adjusted p of differences."""
    return min(number.p for number in numbers)


def most_p(numbers: Iterable[Quantity]) -> float:
    """Return the largest of the adjusted p of differences."""
    return max(number.p for number in numbers)


# At equal rank, after 400 steps.
DIFFER = [("plain", 4), ("mfs3", 4), ("mfs3", 16)]
other_gains = [
    gain for gain in after_400_steps.less_linear.all("tto", kind=LAYERS) if (gain.kind, gain.rank) not in DIFFER
]
equal_operations_at_rank_4 = after_400_steps.at_equal_operations.all("tto", 4, COSTLY)

# At equal loss.
layers_at_equal_loss = after_400_steps.at_equal_loss.all("tto", kind=LAYERS)
LOWER = [("softcap", 4), ("sigsoftmax", 4), ("monotone", 4)]
near_full_head = [number for number in layers_at_equal_loss if (number.kind, number.rank) not in LOWER]


def share_taken(run: Compared, kind: str) -> float:
    """Return which share of what a linear head of rank 4 adds to TTO another head of rank 4 takes away."""
    return -run.less_linear("tto", 4, kind) / run.less_full("tto", 4, "family")


share_taken_by_plain = share_taken(after_400_steps, "plain")
share_taken_by_plain_after_1600_steps = share_taken(after_1600_steps, "plain")


def share_at_equal_loss(kind: str) -> float:
    """Return which share of what a head of rank 4 adds to TTO is left at equal loss, after 1,600 steps."""
    return after_1600_steps.at_equal_loss("tto", 4, kind) / after_1600_steps.less_full("tto", 4, kind)


def under_laws(comparison: str, kind: str) -> str:
    """Return a comparison of TTO at rank 4 under three laws."""
    full, rank8, zeros = (
        digits(getattr(law, comparison)("tto", 4, kind)) for law in (under_full, under_rank8, under_zeros)
    )
    return f"{full}, {rank8} and {zeros}"


arms = len(chosen_rates.frame)
arms_at_lower_rate = len(chosen_rates.where(learning_rate=LOWER_RATE).frame)
