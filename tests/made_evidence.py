"""Made evidence for claims: the thesis's printed means as a run would have them, changed where a test asks for it."""

import zlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from oversmoothing.claims.comparison import Chance, Missing, Value
from oversmoothing.claims.published import Published
from oversmoothing.numerics.statistics import WindowSums

FOLDER = Path(__file__).resolve().parents[1] / "resources/published"
FILES = {path.stem.removeprefix("table_"): path for path in FOLDER.glob("*.csv")}
SURE, UNSURE = 1e-5, 5.0  # of a value: what windows, draws and seeds may do to it
WINDOWS = 12
BYTES = range(40)  # those that stand in the windows, the most frequent first
RANKS = ("4", "8", "12", "16", "32", "128", "512")


def varied(mean, chance, *key):
    """Return values by window whose mean is this one."""
    noise = np.random.default_rng(zlib.crc32(repr(key).encode())).normal(0, 1, WINDOWS)
    sums = WindowSums()
    sums.add(np.arange(WINDOWS), mean + chance * abs(mean) * (noise - noise.mean()))
    return sums


class Made(Published):
    """The thesis's printed means with changes, as a run has them: by window, of models that were trained once each."""

    def __init__(self, changes=None, uncertainty=SURE, without=(), ranks=RANKS):
        super().__init__(FILES)
        self.family = [replace(m, trainings=m.models) for m in self.family if m.models[0] in ranks]
        self.truncations = [replace(m, trainings=("512",)) for m in self.truncations]
        self.truths = [replace(m, trainings=m.models) for m in self.truths]
        self.chance = Chance(200, 0, defaultdict(lambda: uncertainty))
        self._changes, self._uncertainty, self._without = changes or {}, uncertainty, without

    def made(self, what, member, printed, *key, windows=True, of_set=False):
        """Return a value as a run has it, changed where it is to be."""
        name = (what, *key, str(member) if member in self.truncations else member.models[0])
        mean = self._changes.get(name)
        mean = printed().mean if mean is None else mean
        sums = varied(mean, self._uncertainty, *name)
        draws = (mean + self._uncertainty * abs(mean) * np.random.default_rng(len(name[1])).normal(0, 1, 50),)
        varying = {"draws": draws} if of_set else {"sums": (sums,)} if windows else {}
        return Value((mean,), member.trainings, what, **varying)

    def _lacks(self, what):
        if what in self._without:
            raise Missing(f"there is no {what}")

    def score(self, metric, member, decoding="pure"):
        self._lacks(metric)
        return self.made(metric, member, lambda: super(Made, self).score(metric, member, decoding), decoding)

    def loss(self, member):
        self._lacks(f"loss of {member}")
        return self.made("losses", member, lambda: super(Made, self).loss(member), windows=False)

    def loss_on_windows(self, member):
        return self.made("losses", member, lambda: super(Made, self).loss(member), "windows")

    def accuracy(self, member):
        return self.made("accuracies", member, lambda: super(Made, self).accuracy(member))

    def value(self, source, member, *key):
        self._lacks(source.name)
        printed = super().value
        return self.made(source.name, member, lambda: printed(source, member, *key), *key, windows=False)

    def by_frequency(self):
        self._lacks("windows")
        return list(BYTES)
