"""A measure at a given loss, along a training."""

import math

import pytest

from oversmoothing.numerics.equal_loss import at_loss


def test_a_value_at_a_loss_lies_between_two_steps():
    assert at_loss([5, 3, 2, 2.5], [0.8, 0.4, 0.2, 0.3], 2.5) == pytest.approx(0.3)
    assert at_loss([5, 3], [0.8, 0.4], 5) == 0.8
    assert math.isnan(at_loss([5, 3], [0.8, 0.4], 2))
    assert math.isnan(at_loss([5, 3], [0.8, 0.4], 6))
