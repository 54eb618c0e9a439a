"""Each measure against plain NumPy in float64, and what becomes of its columns."""

import math
import re

import numpy as np
import pytest
from kept_runs import ROOT

from oversmoothing.measures.catalogue import NEEDS, measures
from oversmoothing.measures.summaries import KINDS, Sums
from oversmoothing.measures.window import Window
from oversmoothing.models.heads import ModelHead
from oversmoothing.tables.record import SCHEMA, record

N, V, D = 6, 120, 4
MORE = {"forced": {"tau": 0.9}}  # settings without which a measure leaves statistics out
BEHIND_NORM = {"norm_kl", "norm_forced"}  # which this head has none of


def window(number=0, count=3, seed=0, head=None):
    draw = np.random.default_rng([seed, number])
    weights = np.random.default_rng(5).normal(size=(V, D)).astype(np.float32)
    model = (draw.normal(size=(N, D)) @ weights.T).astype(np.float32)
    truth = draw.normal(size=(N, V)).astype(np.float32) * 2
    targets, sizes = draw.integers(0, V, N), draw.integers(1, 5, N)
    dropped = draw.random((2, N))
    given = ModelHead(weights) if head is None else head
    return Window(number, count, model, targets, truth, given, sizes, *dropped)


def distributions(of):
    powers = [np.exp(logits.astype(float)) for logits in (of.model, of.truth)]
    return [each / each.sum(axis=1, keepdims=True) for each in powers]


def columns(name, of, **settings):
    measure = measures()[name].with_settings(**settings)
    return measure.of(of, **measure.settings)


def test_what_is_declared_can_be_asked_for_and_shown():
    for name, measure in measures().items():
        assert measure.name == name
        assert set(measure.needs) <= set(NEEDS)
        if measure.over != "window":
            continue  # see the studies of ranks and of argmaxable classes
        assert window().has >= set(measure.needs)
        found = columns(name, window(), **MORE.get(name, {}))
        for statistic in measure.statistics.values():
            assert set(statistic.columns) <= set(found)
            assert statistic.kind in KINDS
            assert statistic.better in (None, "lower", "higher")
        sums = Sums(measure)
        for number in range(3):
            sums.add(number, columns(name, window(number), **MORE.get(name, {})))
        rows = list(sums.rows())
        assert {row["measure"] for row in rows} == set(measure.statistics) - BEHIND_NORM
        assert set(record(rows)) == set(SCHEMA)
        assert all(math.isfinite(row["value"]) for row in rows)
    with pytest.raises(ValueError, match="forced: no setting 'windows'"):
        measures()["forced"].with_settings(windows=3)


def test_divergences_and_shares_are_those_of_numpy():
    of = window()
    q, p = distributions(of)
    mixture = (p + q) / 2
    forward, backward = (p * np.log(p / q)).sum(axis=1), (q * np.log(q / p)).sum(axis=1)
    sides = [(each * np.log(each / mixture)).sum(axis=1) for each in (p, q)]
    np.testing.assert_allclose(columns("side_by_side", of)["kl"], forward, rtol=1e-6)
    np.testing.assert_allclose(columns("reverse_kl", of)["reverse_kl"], backward, rtol=1e-9)
    np.testing.assert_allclose(columns("jensen_shannon", of)["jensen_shannon"], sum(sides) / 2, rtol=1e-9)
    shared = [
        len({*np.argsort(-one)[:5].tolist()} & {*np.argsort(-other)[:5].tolist()}) / 5
        for one, other in zip(q, p, strict=True)
    ]
    np.testing.assert_allclose(columns("top_five", of)["top_five"], shared)


def test_jensen_shannon_is_bounded_and_symmetric():
    of = window()
    swapped = Window(0, 3, of.truth, of.targets, of.model)
    far = Window(0, 1, np.eye(2, dtype=np.float32) * 200, np.array([0, 1]), np.eye(2, dtype=np.float32)[::-1] * 200)
    name = "jensen_shannon"
    np.testing.assert_allclose(columns(name, of)[name], columns(name, swapped)[name], rtol=1e-9)
    np.testing.assert_allclose(columns(name, far)[name], math.log(2))


def test_losses_count_nats_bits_and_bytes():
    of = window()
    q, p = distributions(of)
    at = np.arange(N), of.targets
    found = columns("losses", of)
    np.testing.assert_allclose(found["loss"], -np.log(q[at]), rtol=1e-6)
    np.testing.assert_allclose(found["bits"], -np.log2(q[at]), rtol=1e-6)
    np.testing.assert_array_equal(found["accuracy"], q.argmax(axis=1) == of.targets)
    np.testing.assert_allclose(columns("losses", of.of_truth)["loss"], -np.log(p[at]), rtol=1e-6)
    sums, windows = Sums(measures()["losses"]), [window(number) for number in range(3)]
    for each in windows:
        sums.add(each.number, columns("losses", each))
    value = {row["measure"]: row for row in sums.rows()}
    nats = np.concatenate([-np.log(distributions(each)[0][np.arange(N), each.targets]) for each in windows])
    size = sum(int(each.sizes.sum()) for each in windows)
    assert value["loss_per_byte"]["value"] == pytest.approx(nats.sum() / size, rel=1e-6)
    assert value["loss_per_byte"]["n"] == size
    assert value["loss"]["value"] == pytest.approx(nats.mean())
    assert value["loss"]["low"] < value["loss"]["value"] < value["loss"]["high"]


def test_a_byte_less_likely_than_any_number_says_so_in_one_line():
    of = window()
    of.model[0] = -np.inf
    of.model[0, 1] = 0
    of.targets[0] = 2
    with pytest.raises(ValueError, match="non-finite"):
        Sums(measures()["losses"]).add(0, columns("losses", of))


def test_what_a_head_forces_is_a_part_of_kl():
    of = window()
    q, p = distributions(of)
    found = columns("forced", of, per_window=None)
    np.testing.assert_allclose(found["kl"], (p * np.log(p / q)).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found["forced"] + found["rest"], found["kl"])
    assert (found["forced"] < found["kl"]).all()
    draw, weights = np.random.default_rng(2), of.head.weights.astype(float)
    for _ in range(200):  # no state does better
        logits = draw.normal(size=(N, D)) * 2 @ weights.T
        other = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        assert ((p * np.log(p / other)).sum(axis=1) >= found["forced"] - found["gap"]).all()


def test_shares_and_brackets_are_as_in_the_tables_of_the_workflow():
    sums = Sums(measures()["forced"].with_settings(per_window=None))
    for number in range(3):
        sums.add(number, columns("forced", window(number), per_window=None))
    rows = {row["measure"]: row for row in sums.rows()}
    assert rows["share"]["value"] == pytest.approx(rows["forced"]["value"] / rows["kl"]["value"])
    assert 0 < rows["share"]["low"] < rows["share"]["value"] < rows["share"]["high"] < 1
    assert math.isnan(rows["gap"]["low"])
    alone = Sums(measures()["forced"])
    alone.add(0, columns("forced", window()))
    share = {row["measure"]: row for row in alone.rows()}["share"]
    assert 0 < share["value"] < 1
    assert math.isnan(share["low"])
    wide = Sums(measures()["tbat"])
    wide.add(0, {"value": np.full(2, 0.5), "low": np.full(2, 0.4), "high": np.array([0.41, 0.43])})
    assert next(wide.rows())["bracket"] == pytest.approx(0.02)


def test_where_few_windows_are_measured_the_others_give_no_values():
    of = window(1, 3)
    assert columns("tbat", of, windows=1)["value"].shape == (1,)  # the middle one
    assert columns("tbat", window(0, 3), windows=1)["value"].shape == (0,)
    assert columns("tbat", of, per_window=4)["value"].shape == (4,)


def test_drafts_are_accepted_as_often_as_in_a_simulation():
    """Drafts are drawn and accepted as in Algorithm 1 of Leviathan et al. (2023)."""
    of = window()
    q, p = distributions(of)
    found = columns("acceptance", of, decoding={"name": "top-p", "p": 0.7})["acceptance"]
    draw = np.random.default_rng(2)
    for rate, *both in zip(found, q, p, strict=True):
        draft, truth = map(_cut, both)
        x = draw.choice(V, size=40_000, p=draft)
        assert rate == pytest.approx((draw.random(40_000) < np.minimum(1, truth[x] / draft[x])).mean(), abs=0.01)


def _cut(p):
    order = np.argsort(-p)
    kept = order[: np.searchsorted(np.cumsum(p[order]), 0.7) + 1]
    left = np.where(np.isin(np.arange(len(p)), kept), p, 0)
    return left / left.sum()


def test_the_measure_of_the_recipe_is_what_least_squares_leave():
    recipe = (ROOT / "CONTRIBUTING.md").read_text().split("### A measure of a model over a text")[1]
    names = {}
    exec(re.search(r"```python\n(.*?)```", recipe, re.DOTALL)[1], names)
    of = window()
    found = names["MEASURE"].of(of)
    q, p = distributions(of)
    columns_of_head = np.column_stack([of.head.weights.astype(float), np.ones(V)])
    left = (q - p).T - columns_of_head @ np.linalg.lstsq(columns_of_head, (q - p).T, rcond=None)[0]
    assert found["whole"] == pytest.approx(((q - p) ** 2).sum(axis=1))
    assert found["unseen"] == pytest.approx((left**2).sum(axis=0))
