"""One window of a text as measures see it: logits of a model and of a truth, and what follows from them."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax

from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.scores.probabilities import softmax

if TYPE_CHECKING:
    from oversmoothing.models.heads import ModelHead


class Window:
    """The n scored positions of a window: what a model predicts there, and a truth.

    Parameters
    ----------
    number, count : int
        The window, from 0, and how many there are.
    model : array, shape (n, v)
        Logits of the model, float32.
    targets : array, shape (n,)
        The tokens that came next, int.
    truth : array, shape (n, v), optional
        Logits of the truth.
    head : ModelHead, optional
        The model's head, if its logits are linear in what enters it.
    sizes : array, shape (n,), optional
        Bytes of the text of each target.
    dropped : array, shape (n,), optional
        Probability that the model gives to what is no token of the vocabulary.
    beside : array, shape (n,), optional
        The same of the truth.
    hidden : array, shape (n, r), optional
        What enters the head.
    """

    def __init__(
        self,
        number: int,
        count: int,
        model: np.ndarray,
        targets: np.ndarray,
        truth: np.ndarray | None = None,
        head: "ModelHead | None" = None,
        sizes: np.ndarray | None = None,
        dropped: np.ndarray | None = None,
        beside: np.ndarray | None = None,
        hidden: np.ndarray | None = None,
    ) -> None:
        self.number, self.count, self.model, self.targets = number, count, model, targets
        self.truth, self.head, self.sizes, self.dropped, self.beside = truth, head, sizes, dropped, beside
        self.hidden = hidden

    @property
    def has(self) -> set[str]:
        """What measures may need of it, as `catalogue.NEEDS` names it."""
        there = {name: getattr(self, name) for name in ("truth", "head", "hidden", "sizes", "dropped")}
        return {"logits", "targets", *(name for name, value in there.items() if value is not None)}

    @cached_property
    def q(self) -> np.ndarray:
        """The model's distributions (n, v), in the precision of its logits."""
        return np.asarray(softmax(self.model))

    @cached_property
    def p(self) -> np.ndarray:
        """The truth's distributions (n, v), in the precision of its logits."""
        return np.asarray(softmax(self._truth))

    @cached_property
    def log_q(self) -> np.ndarray:
        """The model's log-probabilities, float64 (n, v)."""
        return np.asarray(log_softmax(self.model.astype(np.float64), axis=1))

    @cached_property
    def log_p(self) -> np.ndarray:
        """The truth's log-probabilities, float64 (n, v)."""
        return np.asarray(log_softmax(self._truth.astype(np.float64), axis=1))

    @cached_property
    def of_truth(self) -> "Window":
        """The same positions with the truth in the model's place, and without a truth or a head."""
        return Window(self.number, self.count, self._truth, self.targets, sizes=self.sizes, dropped=self.beside)

    def positions(self, per_window: int | None, windows: int | None = None) -> np.ndarray:
        """Return the positions at which what takes long is measured: so many, evenly spaced, or all for None.

        With `windows`, there are none outside of so many evenly spaced windows.
        """
        if windows is not None and self.number not in positions_of(self.count, windows):
            return np.empty(0, int)
        return positions_of(len(self.model), per_window)

    @property
    def _truth(self) -> np.ndarray:
        if self.truth is None:
            raise ValueError(f"window {self.number} has no truth")
        return self.truth
