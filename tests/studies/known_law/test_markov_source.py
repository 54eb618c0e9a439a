"""A law without a network: its entropy rate, and what heads of its rank force."""

import numpy as np
import pytest
from markov_source import MarkovSource, markov_source

from oversmoothing.forced.division import divide
from oversmoothing.forced.head import prepare


@pytest.mark.parametrize(("v", "entropy"), [(64, 0.7), (256, 0.6), (5000, 0.75)])
def test_its_entropy_rate_is_the_one_asked_for_and_that_of_its_text(v, entropy):
    source = markov_source(v, 16, 6, entropy, seed=1)
    assert source.entropy_rate() == pytest.approx(entropy, abs=1e-9)
    text = source.draw(20_000, seed=2)
    surprise = -source.log_p[text[:-1] % 16, text[1:]]
    assert surprise.mean() == pytest.approx(entropy, abs=4 * surprise.std() / np.sqrt(len(surprise) / 10))


def test_two_states_by_hand():
    """From symbol 0 the next is 0 or 1 with 1/2 each, from 1 always 0: two thirds of the time in 0, log 2 there."""
    with np.errstate(divide="ignore"):
        source = MarkovSource(np.log(np.maximum([[0.5, 0.5], [1.0, 0.0]], 1e-300)))
    assert source.stationary() == pytest.approx([2 / 3, 1 / 3])
    assert source.entropy_rate() == pytest.approx(2 / 3 * np.log(2))


def test_a_head_of_its_rank_expresses_it_and_one_below_does_not():
    rank, draw = 5, np.random.default_rng(3)
    source = markov_source(200, 12, rank, 0.7, seed=4)
    centred = source.log_p - source.log_p.mean(axis=1, keepdims=True)
    directions = np.linalg.svd(centred)[2][:rank].T
    truth, logits = np.exp(source.log_p), np.zeros((12, 200))
    enough = prepare(np.concatenate([directions, draw.normal(size=(200, 3))], axis=1))
    assert divide(enough, logits, truth)[1].forced.max() < 1e-9
    assert divide(prepare(directions[:, : rank - 2]), logits, truth)[1].forced.mean() > 0.01
