"""Result of `argmaxable`: the status of each class, with certificates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

ARGMAXABLE, UNARGMAXABLE, UNDECIDED = "argmaxable", "unargmaxable", "undecided"


@dataclass(frozen=True)
class Argmaxability:
    """Status and certificate of each of v classes.

    Attributes
    ----------
    status : array of str, shape (v,)
        "argmaxable", "unargmaxable" or "undecided".
    hidden : array, shape (v, d)
        For an argmaxable class, an h at which it is strictly the largest (of norm 1 if there is no bias); NaN
        otherwise.
    margin : array, shape (v,)
        Proven lower bound of its lead over the runner-up at that h, in logits (not the widest possible lead); NaN
        otherwise.
    combination : array, shape (v, v), or (v, v + 1) with a bias
        For an unargmaxable class, the weights l_j of the other rows, up to rounding, and m last; 0 otherwise. Their
        support determines the exact weights, which `oversmoothing.argmaxability.proofs.check` computes.
    """

    status: np.ndarray
    hidden: np.ndarray
    margin: np.ndarray
    combination: np.ndarray

    @cached_property
    def argmaxable(self) -> np.ndarray:
        """Whether each class is argmaxable, bool (v,).

        Raises
        ------
        ValueError
            If classes are undecided; the message names them.
        """
        if len(open_classes := np.flatnonzero(self.status == UNDECIDED)):
            raise ValueError(
                f"undecided classes {open_classes.tolist()}: too close to a tie for float64, or the weights are of "
                "lower rank only up to rounding (then pass a factor of full column rank with the same column space)"
            )
        return self.status == ARGMAXABLE
