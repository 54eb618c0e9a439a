"""Certificates prove decisions in exact arithmetic, and prove nothing that is false."""

import math

import numpy as np
import pytest
from certificates import proves

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import DELTA, RejectSet, reject_set
from oversmoothing.scores.probabilities import softmax


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(5)
    weights = generator.normal(size=(256, 12)).astype(np.float32)
    p = softmax(generator.normal(size=(4, 12)) @ weights.T.astype(np.float64))
    return weights, reject_set(prepare(weights), p, certificates=True)


def test_every_decision_of_a_byte_model_is_proved(case):
    weights, sets = case
    assert 0 < sets.rejected[0].sum() < 256
    for position in range(2):
        assert all(proves(weights, sets, position, token, math.exp(DELTA)) for token in range(256))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [32, 128])
def test_a_sample_of_decisions_at_higher_ranks_is_proved(rank):
    generator = np.random.default_rng(rank)
    weights = generator.normal(size=(256, rank)).astype(np.float32)
    p = softmax(generator.normal(size=(2, rank)) @ weights.T.astype(np.float64) / np.sqrt(rank) * 3)
    sets = reject_set(prepare(weights), p, certificates=True)
    tokens = generator.choice(256, 40 if rank == 32 else 8, replace=False)
    assert all(proves(weights, sets, i % 2, int(token), math.exp(DELTA)) for i, token in enumerate(tokens))


def test_what_a_certificate_proves_of_another_head_is_true_of_that_head(case):
    weights, sets = case
    other = np.random.default_rng(6).normal(size=weights.shape)
    truth = reject_set(prepare(other), sets.p[:1])
    proved = [token for token in range(256) if proves(other, sets, 0, token, math.exp(DELTA))]
    assert 0 < len(proved) < 256
    np.testing.assert_array_equal(sets.rejected[0, proved], truth.rejected[0, proved])


def test_undecided_tokens_are_not_proved_and_certificates_must_be_asked_for(case):
    weights, sets = case
    undecided = RejectSet(sets.p, sets.rejected, np.ones_like(sets.rejected), sets.certificates)
    assert not proves(weights, undecided, 0, 0, math.exp(DELTA))
    with pytest.raises(ValueError, match="without certificates"):
        proves(weights, RejectSet(sets.p, sets.rejected, sets.undecided), 0, 0, math.exp(DELTA))


def test_full_rank_is_proved_by_the_rank():
    weights = np.random.default_rng(0).normal(size=(40, 45))
    sets = reject_set(prepare(weights), np.full(40, 1 / 40), certificates=True)
    assert all(proves(weights, sets, 0, token, math.exp(DELTA)) for token in range(40))
    assert not any(proves(weights[:, :5], sets, 0, token, math.exp(DELTA)) for token in range(40))
