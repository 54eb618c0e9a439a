"""Verdicts and the headline over seeds and texts: a difference that few windows make is not decided."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from made_tables import around, by_rank, measured

from oversmoothing.claims.contrast import Outcome, decide
from oversmoothing.claims.headline import order_of_ranks
from oversmoothing.claims.measured import Measured, error_of_difference
from oversmoothing.claims.thesis import falls, no_change_to_128

ALIKE, APART = np.zeros(10), np.array([1.0] + [0.0] * 9)  # what windows add at the lower rank
SEEDS = (0, 1, 2)


def windows_of(ranks, adds, truth="truth"):
    """Means of ten windows of 20 positions for each seed and metric: at the lowest rank, `adds` on top."""
    rows = [
        {"kind": "family", "rank": rank, "seed": seed, "truth": truth, "measure": metric, "window": window, "n": 20}
        | {"value": adds[window] * (rank == min(ranks))}
        for rank, seed, metric, window in product(ranks, SEEDS, ("tto", "nsmd", "tv", "kl"), range(10))
    ]
    return pd.DataFrame(rows)


def run_of(ranks, adds):
    scores = [row for metric in ("tto", "nsmd", "tv", "kl") for row in by_rank(metric, ranks, decoding="pure")]
    run = measured((*ranks,), oversmoothing=[{**row, "truth": "truth"} for row in scores])
    return Measured({"oversmoothing": run.table("oversmoothing"), "window_means": windows_of(ranks, adds)}, run.family)


def test_the_error_by_hand():
    """One of ten windows is 1 above the others, in every seed: the standard error of their mean is 1 / 10."""
    assert error_of_difference(windows_of((4, 8), APART), "tto", 4, 8) == pytest.approx(0.1)
    assert error_of_difference(windows_of((4, 8), ALIKE), "tto", 4, 8) == 0
    assert error_of_difference(None, "tto", 4, 8) == 0
    both = pd.concat([windows_of((4, 8), APART), windows_of((4, 8), ALIKE, "other")])
    assert error_of_difference(both, "tto", 4, 8) == pytest.approx(0.05)  # the mean over two truths


@pytest.mark.parametrize(("adds", "outcome"), [(ALIKE, Outcome.FOR), (APART, Outcome.OPEN)])
def test_a_step_that_one_window_makes_is_not_decided(adds, outcome):
    ranks = {4: around(0.2, 1e-3), 8: around(0.1, 1e-4)}
    run = run_of(ranks, adds)
    assert decide(falls(run, ["tto"], run.steps())) == [outcome]
    against = run.against("truth")
    assert decide(falls(against, ["tto"], against.steps())) == [outcome]


@pytest.mark.parametrize(("adds", "outcome"), [(ALIKE, Outcome.FOR), (APART, Outcome.OPEN)])
def test_two_ranks_are_alike_over_texts_too(adds, outcome):
    run = run_of({32: around(0.1, 1e-4), 128: around(0.1001, 1e-4)}, adds)
    assert set(decide(no_change_to_128(run))) == {outcome}


@pytest.mark.parametrize(("adds", "says"), [(ALIKE, "The lower the rank"), (APART, "does not clearly follow rank")])
def test_the_headline_leaves_open_what_the_verdict_leaves_open(adds, says):
    values = {4: around(0.2, 1e-3), 8: around(0.1, 1e-4)}
    rows = [
        {"rank": rank, "seed": seed, "value": value} for rank, of in values.items() for seed, value in enumerate(of)
    ]
    assert says in order_of_ranks(pd.DataFrame(rows), windows_of((4, 8), adds))
