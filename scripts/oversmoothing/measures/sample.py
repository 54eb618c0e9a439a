"""Positions drawn over all windows: what a model's representations are there."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from oversmoothing.jobs import UserError
from oversmoothing.models.drawn_rows import draw_rows, read_rows
from oversmoothing.models.logit_files import POSITION

if TYPE_CHECKING:
    from oversmoothing.models.heads import ModelHead


@dataclass(frozen=True)
class Sample:
    """Logits (n, v) and hidden states of a model, ``post`` (n, r) and ``pre`` (n, width), and its head."""

    logits: np.ndarray
    post: np.ndarray
    pre: np.ndarray
    head: "ModelHead"


def read_sample(logits: str | Path, hidden: str | Path, head: "ModelHead", count: int, seed: int) -> Sample:
    """Return a model's representations at `count` positions drawn over all windows, or at all if there are fewer.

    The choice of positions depends only on their number and the seed. The files are read one row group at a time. A
    `UserError` is raised if a file is damaged or empty, or the files are of different windows.
    """
    rows = draw_rows(logits, count, seed)
    same = np.array_equal(rows, draw_rows(hidden, count, seed))  # the same rows if the files have the same length
    outer = read_rows(logits, ["logits"], rows)
    inner = read_rows(hidden, ["post", "pre"], rows) if same else {}
    if not same or any(not np.array_equal(outer[key], inner[key]) for key in POSITION):
        raise UserError(f"{hidden}: other windows than {logits}; delete both and run again")
    return Sample(outer["logits"], inner["post"], inner["pre"], head)
