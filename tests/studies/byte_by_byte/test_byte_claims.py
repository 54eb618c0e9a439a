"""How rare a byte is and how much is oversmoothed there: the correlation, and what the choice of the text adds."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from made_tables import around, by_rank, measured

from oversmoothing.claims.claim import CONTRADICTED, HOLDS, OPEN, judge
from studies.byte_by_byte.claims import CLAIMS, rank_correlation

RARE = next(claim for claim in CLAIMS if claim.id == "rare-bytes-oversmoothed-more")


def test_a_rank_correlation_is_spearmans():
    draw = np.random.default_rng(0)
    a, rows = draw.integers(0, 9, 40), draw.integers(0, 9, (3, 40))
    theirs = [scipy.stats.spearmanr(a, row).statistic for row in rows]
    assert rank_correlation(a, rows) == pytest.approx(theirs)


def run(slope, noise, error, seed):
    """Forty bytes whose NSMD rises by `slope` from the commonest to the rarest, with noise that all seeds share."""
    draw = np.random.default_rng(seed)
    shared = draw.normal(0, noise, 40)
    text = [{"class": b, "measure": "occurrences", "value": 100.0 - b, "kind": None, "rank": None} for b in range(40)]
    nsmd = [
        {"class": b, "measure": "nsmd", "rank": rank, "truth": "real", "sd": 0.1, "n": 50}
        | {"value": tuple(0.3 + slope * b / 40 + shared[b] + draw.normal(0, 0.001, 3))}
        | {"low": 0.3 - 1.96 * error, "high": 0.3 + 1.96 * error}
        for rank in (4, 288)
        for b in range(40)
    ]
    scores = by_rank("nsmd", {4: around(0.3), 288: around(0.1)}, decoding="pure", truth="real")
    losses = [{"measure": "loss", "kind": "truth", "model": "real", "value": 1.0}]
    return measured((4, 288), bytes=text + nsmd, oversmoothing=scores, losses=losses)


def test_without_a_slope_it_is_decided_in_at_most_one_text_of_twenty_and_a_steep_one_is_found():
    runs = 60
    chance = [judge(RARE, run(0.0, 0.05, 0.05, seed)).verdict for seed in range(runs)]
    assert sum(verdict != OPEN for verdict in chance) / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert judge(RARE, run(0.3, 0.05, 0.05, 0)).verdict == HOLDS
    assert judge(RARE, run(-0.3, 0.05, 0.05, 0)).verdict == CONTRADICTED
    alone = pd.Series([judge(RARE, run(0.0, 0.05, 0.0, seed)).verdict for seed in range(20)])
    assert (alone != OPEN).mean() > 0.5  # seeds alone take the text for the rank
