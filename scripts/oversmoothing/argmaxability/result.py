"""Result of `argmaxable`: the status of each class, with certificates."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

ARGMAXABLE, UNARGMAXABLE, UNDECIDED = "argmaxable", "unargmaxable", "undecided"
NAMED = 10  # undecided classes that an error message lists


class Combination(NamedTuple):
    """The rows that combine to a class's row.

    Attributes
    ----------
    rows : int array, shape (k,)
        Classes; v stands for the slack by which the class's bias is below the combination of theirs.
    shares : array, shape (k,)
        Up to rounding. No more rows than equations determine them exactly; of more, some exact ones are near these.
    """

    rows: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class Argmaxability:
    """The status and the certificate of each of v classes.

    Attributes
    ----------
    status : array of str, shape (v,)
        "argmaxable", "unargmaxable" or "undecided".
    hidden : float64 or float32 array, shape (v, d)
        For an argmaxable class, an h at which it is strictly the largest (of norm 1 if there is no bias); NaN
        otherwise. The proof is for the h stored, whatever its precision, with its `rest`.
    margin : array, shape (v,)
        Proven lower bound of its lead over the runner-up at that h, in logits (not the widest possible lead); NaN
        otherwise.
    combination : dict of int to Combination
        For each unargmaxable class, the other rows that combine to its own. `argmaxability.check` computes their exact
        shares, or of more rows than equations proves that there are some.
    rest : dict of int to float64 array, shape (d,)
        What is to be added to `hidden` of a class that leads only by what rounding left in the weights: so little that
        no h of so few digits shows it.
    """

    status: np.ndarray
    hidden: np.ndarray
    margin: np.ndarray
    combination: dict[int, Combination]
    rest: dict[int, np.ndarray] = field(default_factory=dict)

    def undecided(self) -> np.ndarray:
        """Return the classes that are neither proven argmaxable nor proven unargmaxable, int (u,)."""
        return np.flatnonzero(self.status == UNDECIDED)

    @cached_property
    def argmaxable(self) -> np.ndarray:
        """Whether each class is argmaxable, bool (v,); a `ValueError` names undecided classes, if there are any."""
        if len(left := self.undecided()):
            named = f"{left[:NAMED].tolist()}{f' and {len(left) - NAMED} more' if len(left) > NAMED else ''}"
            raise ValueError(
                f"undecided classes {named}: too close to a tie for floats, or the search ended before, or many "
                "columns are combinations of others (then pass a factor of full column rank with the same column space)"
            )
        return self.status == ARGMAXABLE
