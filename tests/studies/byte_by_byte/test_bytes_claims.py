"""Claims about single bytes: when each holds, fails and is left open; and what they read of a run."""

import numpy as np
import pandas as pd
import pytest
from made_evidence import BYTES, FILES, UNSURE, Made, varied

from oversmoothing.claims.comparison import Missing
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from studies.byte_by_byte.claims import CLAIMS
from studies.byte_by_byte.compared import Sums, read_sums_of, share_higher

WINDOWS, SCORED = 12, 30


class ByByte(Made):
    """Made evidence with an NSMD that rises with the rarity of a byte, and is higher at rank 4 than elsewhere."""

    def __init__(self, levels=None, rare=0, **options):
        super().__init__(**options)
        self._levels, self._rare = levels or {}, rare

    def value(self, source, member):
        model = member.models[0]
        level = self._levels.get(model, lambda byte: (0.02 if model == "4" else 0.01) * (byte + 5))
        nsmd = {}
        for byte in BYTES:
            nsmd[byte] = varied(level(byte), self._uncertainty, model, byte)
            nsmd[byte].count = dict.fromkeys(nsmd[byte].count, len(BYTES) - byte)
            nsmd[byte].total = {w: n * nsmd[byte].total[w] for w, n in nsmd[byte].count.items()}
        return Sums(nsmd, dict.fromkeys(range(30), 5) | {35: self._rare})


UNKNOWN = ByByte(uncertainty=UNSURE)
CASES = {
    # claim: evidence under which it holds, under which it does not, and under which nobody can tell
    "rare-bytes-oversmoothed-more": (ByByte(), ByByte({"128": lambda byte: 0.5 - 0.01 * byte}), UNKNOWN),
    "lowest-rank-worse-at-every-byte": (ByByte(), ByByte({"4": lambda byte: 0.02 * (byte - 1)}), UNKNOWN),
    "lowest-rank-never-predicts-the-rarest": (ByByte(), ByByte(rare=1), ByByte(without=["windows"])),
}


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, OPEN])
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim, verdict):
    judged = judge_claim(claim.test, CASES[claim.id][[HOLDS, FAILS, OPEN].index(verdict)])
    assert judged.verdict == verdict, judged


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_thesis_prints_no_numbers(claim):
    with pytest.raises(Missing, match="the thesis shows it in a figure and prints no number"):
        claim.test(Published(FILES))


@pytest.fixture
def rows():
    """Return a position a row: the NSMD of two models against two truths at the bytes of 12 windows."""
    draw = np.random.default_rng(0)
    positions = pd.DataFrame({"window": np.repeat(range(WINDOWS), SCORED)})
    positions["byte"] = draw.choice([97, 98, 99, 100, 200], len(positions), p=[0.4, 0.3, 0.2, 0.08, 0.02])
    both = [positions.assign(truth=truth) for truth in ("one", "other")]
    table = pd.concat(both, ignore_index=True)
    return [table.assign(value=draw.normal(shift, 1, len(table))) for shift in (0.1, 0.0)]


def written(path, positions):
    """Write the sums of a model, which is argmaxed as often as the text has it, and read them back."""
    at = positions.groupby(["window", "byte", "truth"]).value
    counts = positions[positions.truth == "one"].groupby(["window", "byte"]).size().reset_index(name="value")
    parts = [
        *(counts.assign(measure=measure, truth=None) for measure in ("occurrences", "argmaxes")),
        at.sum().reset_index().assign(measure="nsmd"),
        at.agg(lambda values: (values**2).sum()).reset_index().assign(measure="nsmd_squares"),
    ]
    pd.concat(parts, ignore_index=True).astype({"value": float}).to_parquet(path, index=False)
    return read_sums_of(path)


def test_sums_are_those_of_the_rows_at_each_byte(rows, tmp_path):
    sums = written(tmp_path / "a.parquet", rows[0])
    assert sums.truths == 2
    assert sorted(sums.nsmd) == sorted(rows[0].byte.unique())
    for byte, part in rows[0].groupby("byte"):
        count, total, squares = sums.nsmd[byte].arrays()
        assert count.sum() == len(part) == 2 * sums.argmaxes[byte]
        assert total.sum() == pytest.approx(part.value.sum())
        assert squares.sum() == pytest.approx((part.value**2).sum())
        assert sums.nsmd[byte].mean == pytest.approx(part.value.mean())


def test_share_of_bytes_against_windows_glued_together(rows, tmp_path):
    sums = [written(tmp_path / f"{i}.parquet", positions).nsmd for i, positions in enumerate(rows)]

    def share(drawn, margin):
        parts = (pd.concat([table[table.window == window] for window in drawn]) for table in rows)
        a, b = (part.groupby("byte").value.mean() for part in parts)
        return (a - b > margin * np.maximum(a.abs(), b.abs())).mean()

    draws = np.random.default_rng([3, WINDOWS]).integers(0, WINDOWS, size=(40, WINDOWS))
    low = np.quantile([share(draw, 0.2) for draw in draws], 0.025)
    high = np.quantile([share(draw, -0.2) for draw in draws], 0.975)
    assert share_higher(*sums, 0.2, 40, 3) == pytest.approx((share(range(WINDOWS), 0.0), low, high))
    assert low < high
