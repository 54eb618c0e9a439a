"""The published shortcut: TBAT with an approximation of the head in BAT (thesis 7.1; Finlayson et al. 2024)."""

from collections.abc import Sequence

import numpy as np

from oversmoothing.bat.basis import Basis, prepare
from oversmoothing.measures.catalogue import POSITION, Measure, Statistic
from oversmoothing.measures.entries.tbat import full, mass
from oversmoothing.measures.window import Window
from oversmoothing.models.heads import ModelHead
from oversmoothing.models.spectra import truncate
from oversmoothing.numerics.log_ratio import DELTA
from oversmoothing.scores.probabilities import softmax


def tbat_approximation(
    window: Window,
    delta: float,
    mass_tolerance: float,
    per_window: int | None,
    windows: int | None,
    approximations: Sequence[int],
) -> dict[str, np.ndarray]:
    """Return TBAT with the head's SVD approximations of some ranks, each at some positions.

    Ranks not below the head's own are left out, and the exact head comes last, for comparison.
    """
    assert window.head is not None
    at = window.positions(per_window, windows)
    p, parts = softmax(window.model[at].astype(np.float64)), []
    for rank, basis in window.head.once(bases, tuple(approximations)).items():
        where = f"window {window.number}, approximation {rank}"
        parts.append((at, np.full(len(at), rank, np.int32), mass(basis, p, delta, mass_tolerance, where)["value"]))
    return dict(zip((POSITION, "approximation", "value"), map(np.concatenate, zip(*parts, strict=True)), strict=True))


def bases(head: ModelHead, ranks: tuple[int, ...]) -> dict[int, Basis]:
    """Return the constraints of a head's approximations by their rank, and of the head itself."""
    lower = [rank for rank in ranks if rank < min(head.weights.shape)]
    of_rank = {rank: prepare(truncate(head.weights, rank)) for rank in lower}
    return {**of_rank, head.weights.shape[1]: head.once(full)}


MEASURE = Measure(
    "tbat_approximation",
    tbat_approximation,
    needs=("logits", "head"),
    statistics={"tbat_approximation": Statistic(("value",), "TBAT", "probability", "lower")},
    table="tbat_approximation",
    settings={"delta": DELTA, "mass_tolerance": 1e-3, "per_window": 1, "windows": None, "approximations": ()},
)
