"""TBAT of every byte: the mass that a model gives to its own BAT-reject set (thesis 4.1.6, Tables 4.1, E.7 and E.8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from oversmoothing.bat.basis import Basis, prepare, prepare_tangent
from oversmoothing.bat.reject import LARGEST_DENSE, reject_set
from oversmoothing.jobs import UserError
from oversmoothing.models.logit_files import POSITION, logit_groups
from oversmoothing.models.spectra import read_gain, read_head, truncate
from oversmoothing.scores.files import SCORES
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import read_groups, vectors

TBAT_SCORES = pa.schema(
    [
        *SCORES,  # `value` is the middle of the bracket
        ("low", pa.float64()),  # mass of the rejected tokens
        ("high", pa.float64()),  # mass of the rejected and undecided tokens
        ("undecided", pa.int32()),  # number of tokens
    ]
)
APPROXIMATED = pa.schema(
    [
        ("window", pa.int32()),
        ("position", pa.int32()),
        ("approximation", pa.int32()),  # rank of the head used by BAT
        ("value", pa.float32()),
    ]
)


@dataclass(frozen=True)
class Tbat:
    """Bounds of TBAT at the n bytes of one window, and the number of undecided tokens; shape (n,) each."""

    low: np.ndarray
    high: np.ndarray
    undecided: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """Midpoint of the bounds."""
        return (self.low + self.high) / 2


def choose_basis(weights: str | Path, condition: str) -> Basis:
    """Return constraints of the head in a model's safetensors file under a condition of stationarity.

    ``full``: W^T q = W^T p, as in the thesis. ``tangent``: the condition after a LayerNorm (see `basis`); a `UserError`
    is raised if none directly precedes the head.
    """
    head = read_head(weights)
    if condition == "full":
        return prepare(head)
    gain = read_gain(weights)
    if gain is None:
        raise UserError(
            f"{weights}: no LayerNorm stands directly before its head (`model.bottleneck_norm` is before), so the "
            "head's input is not confined to its tangent space; set `metrics.tbat.condition: full`"
        )
    return prepare_tangent(head, gain)


def tbat(
    basis: Basis, p: np.ndarray, delta: float, mass_tolerance: float, where: str, post: np.ndarray | None = None
) -> Tbat:
    """Return the TBAT of one window, from decoded distributions `p` (n, v).

    It is of the window's bytes, or of its tokens in a larger vocabulary.

    `delta`, `mass_tolerance` and `post`, (n, r) for a `TangentBasis`, are those of `reject_set`; `where` names model
    and window in errors. A `UserError` is raised if the undecided tokens of a byte have more mass than
    `mass_tolerance`. In a vocabulary above `LARGEST_DENSE`, whose sets are not always exact, that is no error: the
    bracket is wider.
    """
    sets = reject_set(basis, p, delta, mass_tolerance, post)
    low, high = sets.mass
    if len(basis.columns) <= LARGEST_DENSE and (high - low > mass_tolerance).any():
        worst = int(np.argmax(high - low))
        raise UserError(
            f"{where}: BAT left {sets.undecided[worst].sum()} tokens with mass {(high - low)[worst]:.3g} undecided at "
            f"position {worst}, more than `metrics.tbat.mass_tolerance`, {mass_tolerance:g}; raise it for a bracket"
        )
    return Tbat(low, high, sets.undecided.sum(axis=1).astype(np.int32))


def read_states(logits: str | Path, hidden: str | Path | None) -> Iterator[tuple[int, np.ndarray, np.ndarray | None]]:
    """Yield a model's windows: number, distributions float64 (n, v) and, if `hidden` is given, ``post`` (n, r)."""
    states = read_groups(hidden, [*POSITION, "post"]) if hidden else None
    for group, of_window in logit_groups(logits, POSITION):
        post = None
        if states is not None:
            state = next(states, None)
            if state is None or any(not state[key].equals(group[key]) for key in POSITION):
                raise UserError(f"{hidden}: other windows than {logits}; delete both and run again")
            post = vectors(state["post"])
        yield group["window"][0].as_py(), softmax(of_window.astype(np.float64)), post


def approximate_bases(weights: str | Path, ranks: Sequence[int]) -> dict[int, Basis]:
    """Return constraints of SVD approximations of the head, the published shortcut (thesis 7.1; Finlayson et al. 2024).

    Ranks not below the head's own are left out, and the exact head comes last, for comparison.
    """
    head = read_head(weights)
    lower = [rank for rank in ranks if rank < min(head.shape)]
    return {**{rank: prepare(truncate(head, rank)) for rank in lower}, head.shape[1]: prepare(head)}
