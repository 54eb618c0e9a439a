"""A model beside a truth at each position: numbers worked by hand, and llama.cpp's definitions, read literally."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from step_jobs import job, write_logits

import measure as step
from oversmoothing.measures.entries.side_by_side import KINDS, LOG_FLOOR, compared
from oversmoothing.scores.metrics import softmax


def side_by_side(*given):
    return SimpleNamespace(**compared(*given))


def test_two_positions_worked_by_hand():
    r"""At the first the truth is (1/2, 1/4, 1/4), the model (1/4, 1/2, 1/4) and the token that came next the second.

    KL is 1/2 ln 2 + 1/4 ln 1/2 = 1/4 ln 2, dp 1/2 - 1/4, and the model is better by ln 2. At the second position the
    truth is (1/2, 1/2, 0): KL is ln 1/2 - 1/2 ln (1/8 x 5/8), and of two equal tokens the first counts as the top.
    """
    truth = np.log(np.array([[2, 1, 1], [2, 2, 1e-300]])) + 3.0  # no constant of a row matters
    model = np.log(np.array([[1, 2, 1], [1, 5, 2]]))
    found = side_by_side(model, truth, np.array([1, 0]))
    assert found.kl == pytest.approx([math.log(2) / 4, math.log(1 / 2) - math.log(1 / 8 * 5 / 8) / 2], rel=1e-6)
    assert found.same_top.tolist() == [False, False]
    assert found.dp == pytest.approx([0.25, 1 / 8 - 1 / 2], rel=1e-6)
    assert found.log_ratio == pytest.approx([-math.log(2), math.log(4)], rel=1e-6)
    assert side_by_side(truth, truth, np.array([1, 0])).same_top.all()


def as_llama(logits, base, tokens, bits=None):
    """Compare logits (n, v) with those of a base model as ``llama-perplexity --kl-divergence`` does; its sums by name.

    Of the base, log-probabilities from the largest down to 16 less are stored in `bits`, and without it exactly. The
    definitions are those of perplexity.cpp, a position and a token at a time.
    """
    kld, dp, nll, nll_base, same = [], [], [], [], 0
    for of_model, of_base, token in zip(logits, base, tokens, strict=True):
        log_q, log_p = (
            [x - max(row) - math.log(sum(math.exp(y - max(row)) for y in row)) for x in row]
            for row in (of_model.tolist(), of_base.tolist())
        )
        if bits:
            floor = max(min(log_p), max(log_p) - 16)
            scale = (max(log_p) - floor) / (2**bits - 1)
            log_p = [floor + scale * round((max(x, floor) - floor) / scale) for x in log_p]
        kld.append(sum(math.exp(p) * (p - q) for p, q in zip(log_p, log_q, strict=True) if p > -16))
        dp.append(math.exp(log_q[token]) - math.exp(log_p[token]))
        nll.append(-log_q[token])
        nll_base.append(-log_p[token])
        same += log_q.index(max(log_q)) == log_p.index(max(log_p))
    n = len(kld)
    ratio = sum(nll) / n - sum(nll_base) / n
    return {"kld": kld, "dp": dp, "mean ln(PPL(Q)/PPL(base))": ratio, "same top p": same / n}


def pairs(n, v, seed=0):
    """Logits of a base and of a model close to it, as after quantisation, and tokens drawn from the base."""
    rng = np.random.default_rng(seed)
    base = 4 * rng.normal(size=(n, v))
    p = softmax(base)
    return (
        (base + 0.3 * rng.normal(size=(n, v))).astype(np.float32),
        base.astype(np.float32),
        [rng.choice(v, p=row) for row in p],
    )


@pytest.mark.parametrize(("bits", "near"), [(None, 2e-6), (16, 2e-3)])
def test_positions_are_those_of_llama_cpp(bits, near):
    """Exactly but for the tokens that it leaves out; of a base in 16 bits to within their rounding."""
    model, base, tokens = pairs(60, 40)
    found, theirs = side_by_side(model, base, np.array(tokens)), as_llama(model, base, tokens, bits)
    assert found.kl == pytest.approx(theirs["kld"], abs=near)
    assert found.dp == pytest.approx(theirs["dp"], abs=near)
    assert found.log_ratio.mean() == pytest.approx(theirs["mean ln(PPL(Q)/PPL(base))"], abs=near)
    assert found.same_top.mean() == theirs["same top p"]
    assert 0 < theirs["same top p"] < 1


def test_what_is_impossible_gives_finite_values():
    """A byte view gives -inf to what it gives nothing."""
    model, truth = np.array([[0.0, -np.inf, 0.0]]), np.array([[-np.inf, 0.0, 0.0]])
    found = side_by_side(model, truth, np.array([1]))
    assert found.log_ratio == pytest.approx([math.log(1 / 2) - LOG_FLOOR])
    assert found.kl == pytest.approx([math.log(1 / 2) - LOG_FLOOR / 2 - math.log(1 / 2) / 2])
    other = side_by_side(truth, model, np.array([1]))
    assert np.isfinite(other.kl).all()
    assert other.log_ratio == pytest.approx([LOG_FLOOR - math.log(1 / 2)])


def test_rows_are_compared_a_chunk_at_a_time(monkeypatch):
    model, base, tokens = pairs(11, 30)
    whole = compared(model, base, np.array(tokens))
    monkeypatch.setattr("oversmoothing.measures.entries.side_by_side.VALUES", 70)
    for name, other in compared(model, base, np.array(tokens)).items():
        assert whole[name].tolist() == other.tolist()


def test_mistakes():
    with pytest.raises(ValueError, match="must have the same shape"):
        side_by_side(np.zeros((2, 3)), np.zeros((2, 4)), np.zeros(2, int))
    with pytest.raises(ValueError, match="are not all within 0 and 2"):
        side_by_side(np.zeros((2, 3)), np.zeros((2, 3)), np.array([0, 3]))


def test_the_step_writes_each_position_beside_each_truth(tmp_path):
    model, base, tokens = pairs(12, 20)
    targets = {0: tokens[:6], 1: tokens[6:]}
    for name, logits in (("q4", model), ("whole", base), ("other", base[:, ::-1])):
        write_logits(tmp_path / f"{name}.parquet", {0: logits[:6], 1: logits[6:]}, targets)
    truths = [tmp_path / "whole.parquet", tmp_path / "other.parquet"]
    out = tmp_path / "out.parquet"
    inputs, named = {"model": tmp_path / "q4.parquet", "truths": truths}, {"truths": ["whole", "other"]}
    step.main(job(inputs, out, named, {"measure": "side_by_side"}, model="q4"))
    rows = pq.read_table(out).to_pandas()
    assert pq.read_schema(out).names == ["window", "position", "truth", *KINDS]
    own = rows[rows.truth == "whole"]
    expected = side_by_side(model, base, np.array(tokens))
    assert own.window.tolist() == [0] * 6 + [1] * 6
    assert own.position.tolist() == [*range(6), *range(6)]
    for name in KINDS:
        assert own[name].tolist() == getattr(expected, name).tolist()
    assert len(rows) == 24
