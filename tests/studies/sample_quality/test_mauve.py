"""MAUVE: one for equal sets, near zero for distant ones, refused where it says nothing."""

import numpy as np
import pytest
from mauve.compute_mauve import compute_mauve

from studies.sample_quality.mauve import mauve, why_not

RANDOM = np.random.default_rng(0)
HUMAN = RANDOM.normal(size=(100, 12)).astype(np.float32)


def test_the_packages_defaults_and_nothing_else(capfd):
    model = HUMAN + RANDOM.normal(size=HUMAN.shape).astype(np.float32) + 0.5
    expected = compute_mauve(p_features=HUMAN, q_features=model).mauve
    capfd.readouterr()
    assert mauve(HUMAN, model) == pytest.approx(expected, abs=1e-6)
    assert capfd.readouterr().err == ""  # faiss would advise
    assert mauve(HUMAN, HUMAN) == 1


def test_the_floor_that_the_notes_give_and_distant_sets_near_zero():
    other = np.random.default_rng(1).normal(size=HUMAN.shape).astype(np.float32)
    assert 0.8 < mauve(HUMAN, other) < 1
    away = np.zeros_like(HUMAN)
    away[:, 0] = 1
    assert mauve(-np.abs(HUMAN), away + np.abs(HUMAN)) < 0.05


def test_sets_that_are_too_few_or_without_features():
    assert why_not(HUMAN[:99], HUMAN) == "99 samples; MAUVE needs at least 100"
    holed = HUMAN.copy()
    holed[3] = np.nan
    assert why_not(HUMAN, holed) == "1 samples hold no token and have no features"
    assert why_not(HUMAN, HUMAN) is None
