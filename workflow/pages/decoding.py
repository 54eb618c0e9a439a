"""Numbers of docs/decoding.md beside those that pages share."""

from statistics import median_high

from oversmoothing.tables.quantities import SIGNIFICANT, Table, digits
from pages.kept import kept

WITH_SETTINGS = ("top-n-sigma", "top-p", "eta", "epsilon", "typical", "top-h", "min-k", "top-k")
bytewise = kept("frontier/default").frontier


def gains_over_min_p(rank: int, table: Table) -> list[tuple[str, ...]]:
    """Return rows of what methods keep above min-p at a rank, by temperature and order; bold where significant."""
    gains = table.where(rank=rank).by("decoding", "temperature", "order", "less")

    def gain(method: str, temperature: float, order: str, less: str = "min-p") -> str:
        number = gains(method, temperature, order, less)
        return f"**{digits(number)}**" if number.p < SIGNIFICANT else digits(number)

    def row(method: str, at_default: bool = True, between_orders: bool = False) -> tuple[str, ...]:
        name = method.lower()
        return (
            method,
            gain(name, 1, "temperature first"),
            gain(name, 1.5, "temperature first") if at_default else "-",
            gain(name, 1.5, "cut first"),
            gain(name, 1.5, "cut first", "temperature first") if between_orders else "-",
        )

    return [
        *(row(method, between_orders=True) for method in WITH_SETTINGS),
        row("BAT", at_default=False),
        *(row(method) for method in ("p-less", "p-less-norm")),
    ]


gains_at_rank_16 = gains_over_min_p(16, bytewise)
gains_over_tokens = gains_over_min_p(64, kept("frontier/subword").frontier)
area_at_rank_16 = bytewise.where("area", 16, temperature=1, order="temperature first").by("decoding")
losses_after_cutting_first = [
    gain.decrease
    for gain in bytewise.all(less="min-p", order="cut first", temperature=2, decoding=["epsilon", "typical"])
]
median_width_of_gain = median_high(
    gain.high - gain.low for gain in bytewise.all(rank=16, temperature=1.5, less="min-p")
)
