"""Runs for claims: a family whose scores at positions are given and not read."""

import numpy as np
import pandas as pd

from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.evidence import BY_POSITION, Run

WINDOWS, POSITIONS, TRUTHS = 30, 4, ("one", "other")
KEYS = pd.MultiIndex.from_product([TRUTHS, range(WINDOWS), range(POSITIONS)], names=BY_POSITION)


class GivenRun(Run):
    """Scores by what they are of and by model."""

    def __init__(self, models, chance, frames):
        super().__init__({}, models, [], chance)
        self.frames = frames

    def positions(self, what, model, *columns):
        if (what, model) not in self.frames:
            raise Missing(f"there is no {what} of {model}")
        return self.frames[what, model][list(columns)]


def family(*members):
    """Return what a run knows of models, each of a rank and a seed."""
    names = {f"bn{rank}-s{seed}": rank for rank, seed in members}
    return [
        {"model": name, "kind": "family", "rank": rank, "role": rank, "training": name} for name, rank in names.items()
    ]


def given_run(what, means, noise=0.002, margins=None, draw=None):
    """Make a run with means by (rank, seed) and column, and noise by window: of exactly these means, or as drawn."""
    random, frames = draw or np.random.default_rng(0), {}
    for (rank, seed), columns in means.items():
        frame = pd.DataFrame(index=KEYS)
        for column, mean in columns.items():
            windows = random.normal(0, noise, WINDOWS)
            windows -= 0 if draw else windows.mean()
            frame[column] = mean + np.tile(np.repeat(windows, POSITIONS), len(TRUTHS))
        frames[what, f"bn{rank}-s{seed}"] = frame
    return GivenRun(family(*means), Chance(200, 0, margins or {}), frames)
