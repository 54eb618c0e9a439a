"""The cap of logits: a case by hand, and what it keeps."""

import math

import numpy as np
import pytest
import torch

from oversmoothing.numerics.softcap import softcapped


def test_by_hand():
    """tanh(artanh(1/2)) = 1/2, artanh(1/2) = ln(3) / 2, so of c = 2 the logit ln 3 becomes 1."""
    assert softcapped(np.array([math.log(3), 0.0, -math.log(3)]), 2.0) == pytest.approx([1, 0, -1])


def test_far_below_the_cap_nothing_changes_and_without_one_nothing_at_all():
    z = np.linspace(-1, 1, 9)
    assert softcapped(z, 1e6) == pytest.approx(z, abs=1e-11)
    assert softcapped(z, None) is z


@pytest.mark.parametrize("z", [np.linspace(-9, 9, 99, dtype=np.float32), torch.linspace(-9, 9, 99)])
def test_type_order_and_bounds(z):
    capped = softcapped(z, 5.0)
    assert capped.dtype == z.dtype
    assert (np.diff(np.asarray(capped)) > 0).all()
    assert abs(np.asarray(capped)).max() < 5
