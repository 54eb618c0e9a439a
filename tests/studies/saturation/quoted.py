"""What docs/findings.md quotes of its table, without intervals as means have them."""

from kept_runs import Kept


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    default = Kept("default")
    for rank in (4, 16, 32):
        above = default.interval("saturation", "above_last", rank)
        yield "docs/findings.md", f"rank {rank} by {{:.1f}} % [{{:.1f}}, {{:.1f}}]", above
