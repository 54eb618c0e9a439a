"""The singular values of a head of many tokens against NumPy's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.models.head_spectrum import head_spectrum


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 1000))
def test_the_spectrum_is_that_of_numpy(v, d, seed):
    weight = np.random.default_rng(seed).normal(size=(v, d)).astype(np.float32)
    expected = np.linalg.svd(weight.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(head_spectrum(torch.from_numpy(weight)), expected, atol=1e-7 * expected[0])


def test_the_spectrum_of_a_head_of_many_rows_of_low_rank():
    draw = np.random.default_rng(0)
    weight = (draw.normal(size=(9000, 3)) @ draw.normal(size=(3, 8))).astype(np.float32)
    expected = np.linalg.svd(weight.astype(np.float64), compute_uv=False)
    found = head_spectrum(torch.from_numpy(weight))
    np.testing.assert_allclose(found, expected, atol=1e-7 * expected[0])
    with pytest.raises(ValueError, match="a weight of the head is NaN or infinite"):
        head_spectrum(torch.full((9, 2), torch.nan))
