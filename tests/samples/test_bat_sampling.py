"""BAT as a decoding: what it keeps, in every kind of array."""

import numpy as np
import pytest
import torch

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.bat.reject import DELTA, reject_set
from oversmoothing.samples.bat import bat_decoder
from oversmoothing.scores.decodings.pure import pure
from oversmoothing.scores.probabilities import softmax


def draw(rank, n=8, v=64, sharpness=3.0, seed=0):
    generator = np.random.default_rng([rank, seed])
    weights = generator.normal(size=(v, rank))
    return weights, softmax(generator.normal(size=(n, rank)) * sharpness / np.sqrt(rank) @ weights.T)


@pytest.mark.parametrize("rank", [2, 6, 16])
def test_mass_kept_is_one_less_tbat(rank):
    weights, p = draw(rank)
    low, high = reject_set(prepare(weights), p).mass
    assert (high - low).max() < 1e-12
    q = bat_decoder(weights)(p)
    kept = np.where(q > 0, p, 0).sum(axis=1)
    some = high < 1 - 1e-12
    assert some.any()
    np.testing.assert_allclose(kept[some], 1 - high[some], atol=2e-9)
    np.testing.assert_allclose(q.sum(axis=1), 1)
    np.testing.assert_allclose(q, np.where(q > 0, p, 0) / kept[:, None])


def test_it_keeps_what_one_linear_program_per_token_proves():
    weights, p = draw(4, n=3, v=32)
    for row, q in zip(p, bat_decoder(weights, mass_tolerance=0.0)(p), strict=True):
        proved = ~reject_set_by_linear_programs(weights, row, DELTA)
        assert proved.any()
        np.testing.assert_array_equal(q > 0, proved)


def test_what_is_undecided_is_not_kept():
    weights, p = draw(6)
    sets = reject_set(prepare(weights), p, mass_tolerance=0.2)
    assert sets.undecided.any()
    proved = ~(sets.rejected | sets.undecided)
    assert proved.any(axis=1).all()
    np.testing.assert_array_equal(bat_decoder(weights, mass_tolerance=0.2)(p) > 0, proved)


def test_full_rank_is_pure():
    assert all(bat_decoder(draw(rank)[0]) is pure for rank in (63, 64, 80))


def test_where_nothing_is_proved_the_most_probable_token_stays():
    weights, _ = draw(1, v=16)
    p = np.full((2, 16), 1 / 16)
    p[1] += np.where(np.arange(16) == 5, 0.015, -0.001)
    assert reject_set(prepare(weights), p).rejected.all()
    np.testing.assert_array_equal(bat_decoder(weights)(p), np.eye(16)[[0, 5]])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_torch_and_numpy_agree(dtype):
    weights, p = draw(8, n=6)
    tensor = torch.from_numpy(p).to(dtype)
    before = tensor.clone()
    decode = bat_decoder(weights)
    q = decode(tensor)
    assert (q.dtype, q.device, q.shape) == (dtype, tensor.device, tensor.shape)
    assert torch.equal(tensor, before)
    np.testing.assert_allclose(q.double().numpy(), decode(tensor.double().numpy()), rtol=torch.finfo(dtype).eps * 8)


@pytest.mark.parametrize(
    ("settings", "v", "says"),
    [({"delta": -1.0}, 64, "delta"), ({"mass_tolerance": 2.0}, 64, "mass_tolerance"), ({}, 32, "64 tokens")],
)
def test_a_head_of_another_size_or_a_bad_number_is_refused(settings, v, says):
    weights, p = draw(4)
    with pytest.raises(ValueError, match=says):
        bat_decoder(weights, **settings)(p[:, :v])
