"""Numbers of docs/bat.md beside those that pages share."""

from oversmoothing.tables.quantities import Quantity, Table, digits, percent
from pages.kept import benchmark, kept

NARROW = (4, 8, 16, 32)
premise = kept("default").bat_premise
model, nearest = (premise.where(condition=condition) for condition in (None, "free"))  # q, and the q* nearest to p
rejected_by_model, rejected_at_nearest = (table.where(decoding="bat") for table in (model, nearest))

linear_programs, ours = benchmark.bat_speed.all("linear programs"), benchmark.bat_speed.all("ours")
positions, positions_with_same_set = (benchmark.bat_speed.column("value", measure=of) for of in ("positions", "same"))
small_head, large_head = (
    benchmark.bat_large_speed.where(case=f"50304 tokens, {width} dimensions") for width in (64, 768)
)
gigabytes_of_small_head, gigabytes_of_large_head = (head("memory") / 1000 for head in (small_head, large_head))


def _exceeded_at_nearest(rank: int) -> str:
    number = nearest("exceeded_nucleus", rank)
    return digits(number.value, 0) if rank == 288 else percent(number, 1 if rank == 32 else 0)


conditions_by_rank = [
    (
        rank,
        premise("tv", rank),
        premise("moment", rank),
        percent(model("exceeded_nucleus", rank)),
        _exceeded_at_nearest(rank),
    )
    for rank in (*NARROW, 288)
]
least_exceeded = min(model.all("exceeded") + nearest.all("exceeded", NARROW))


def _rejected(table: Table, rank: int) -> tuple[str, ...]:
    return (
        digits(table("rejected", rank).value, 1),
        digits(table("rejected_nucleus", rank), 2 if rank < 16 else 3),
        digits(table("rejected_mass", rank)),
        f"{table('accepted_unlikely', rank):g}",
    )


def _most_at_full_rank(measure: str) -> str:
    return f"{max(premise.all(measure, 288, decoding='bat')):g}"


rejected_by_rank = [(rank, _rejected(rejected_by_model, rank), _rejected(rejected_at_nearest, rank)) for rank in NARROW]
rejected_at_full_rank = (
    *map(_most_at_full_rank, ("rejected", "rejected_nucleus", "rejected_mass")),
    digits(rejected_by_model("accepted_unlikely", 288).value, 1),
)
most_unlikely_kept_by_cut = f"{max(model.all('accepted_unlikely', NARROW, decoding='cut')):g}"


def more_lost_than_by_cut(rank: int) -> Quantity:
    """Return how much more of the truth's nucleus BAT loses than a cut that keeps as many bytes."""
    return model("rejected_mass", rank, less="cut")


def more_lost_in_percent(rank: int) -> float:
    """Return the same in percent of what BAT rejects."""
    return 100 * more_lost_than_by_cut(rank) / rejected_by_model("rejected_mass", rank)
