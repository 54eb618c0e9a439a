"""The truncations beside BAT, and the values of their parameters; apart from `trial`, for the plan imports no BAT."""

from typing import NamedTuple

BAT, DELTA = "bat", 0.22


class Rival(NamedTuple):
    """A decoding method, its parameter, and the values that are tried."""

    name: str
    key: str
    values: tuple[float, ...]


RIVALS = (
    Rival("top-p", "p", (0.5, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999)),
    Rival("min-p", "min_p", (0.5, 0.3, 0.2, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0003)),
    Rival("eta", "epsilon", (0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)),
)
