"""What is known of the classes of a head, and why."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

ARGMAXABLE, UNARGMAXABLE, UNDECIDED = "argmaxable", "unargmaxable", "undecided"


@dataclass(frozen=True)
class Argmaxability:
    """What is known of each of v classes, and why.

    Attributes
    ----------
    status : array of str, shape (v,)
        "argmaxable", "unargmaxable" or "undecided".
    hidden : array, shape (v, d)
        Of an argmaxable class, an h at which it is strictly the largest (of norm 1 where there is no bias); else NaN.
    margin : array, shape (v,)
        Proven lower bound of its lead over the runner-up at that h, in logits (a witness's, not the widest possible);
        else NaN.
    combination : array, shape (v, v), or (v, v + 1) with a bias
        Of an unargmaxable class, the weights l_j of the other rows, to rounding, and m last; else 0. Their support
        fixes the exact weights, which `oversmoothing.argmaxability.proofs.check` computes.
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
            If a class is undecided; it names them.
        """
        if len(open_classes := np.flatnonzero(self.status == UNDECIDED)):
            raise ValueError(
                f"undecided classes {open_classes.tolist()}: too close to a tie for float64, or the weights are of "
                "lower rank only up to rounding (then give a factor of full column rank with the same column space)"
            )
        return self.status == ARGMAXABLE
