"""BAT's premise: the error of the moments against other solutions, what follows from the premise, and the files."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from safetensors.numpy import save_file
from scipy.optimize import linprog
from scipy.special import log_softmax

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.forced.head import prepare as prepare_family
from oversmoothing.forced.projection import project
from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.store.parquet import open_writer, vector_array
from oversmoothing.tables.compare import compare_tables
from oversmoothing.tables.record import read_record
from studies.bat_premise import measure as script
from studies.bat_premise import show
from studies.bat_premise.measure import PREMISE, measure, moment_error
from studies.bat_premise.show import premise_page, premise_table

SETTINGS = {"tau": 0.9, "delta": 0.2, "mass_tolerance": 0.0}


def drawn(seed, v, r, n, scale=2.0):
    """Return a head, distributions that it gives, and others."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(v, r))
    q = np.exp(log_softmax(rng.normal(size=(n, r)) @ weights.T, axis=1))
    return weights, q, np.exp(log_softmax(rng.normal(size=(n, v)) * scale, axis=1))


def measured(weights, q, p, **settings):
    with np.errstate(divide="ignore"):
        model, truth = np.log(q), np.log(p)
    return measure(prepare(weights), prepare_family(weights), model, {"t": truth}, SETTINGS | settings)["t"]


def greedily(x, p, q):
    """Mass to move until the mean of x is p's: from the farthest values first, all to the other end."""
    if p @ x > q @ x:
        x = -x
    moved, missing = 0.0, q @ x - p @ x
    for j in np.argsort(-x):
        step = min(q[j], missing / (x[j] - x.min())) if x[j] > x.min() else 0.0
        moved, missing = moved + step, missing - step * (x[j] - x.min())
    return moved


def test_the_error_of_a_single_moment_is_what_a_greedy_transport_moves():
    weights, q, p = drawn(0, 30, 1, 12)
    expected = [greedily(weights[:, 0], *pair) for pair in zip(p, q, strict=True)]
    np.testing.assert_allclose(moment_error(prepare(weights).columns, p, q), expected, atol=1e-9)
    assert max(expected) > 0.1


def test_the_error_of_a_case_solved_by_hand():
    """The mean has to fall from 1.2 to .5: all of token 2, .3, goes to token 0 (.6), and .1 of token 1."""
    p, q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.1, 0.6, 0.3]])
    assert moment_error(prepare(np.array([[0.0], [1.0], [2.0]])).columns, p, q) == pytest.approx(0.4)


def dual(weights, p, q):
    """The largest E_p f - E_q f - E_q max(0, -f - 1) over f <= 0 in the span of [W, 1]: a bound from the other side."""
    v = len(p)
    span = np.column_stack([weights, np.ones(v)])
    rows = np.block([[span, np.zeros((v, v))], [-span, -np.eye(v)]])
    costs = np.concatenate([-(p - q) @ span, q])
    bounds = [(None, None)] * span.shape[1] + [(0, None)] * v
    return -linprog(costs, rows, np.repeat([0.0, 1.0], v), bounds=bounds, method="highs").fun


@pytest.mark.parametrize("r", [2, 5, 11])
def test_the_error_equals_its_dual_and_depends_on_the_column_space_alone(r):
    weights, q, p = drawn(r, 24, r, 6)
    found = moment_error(prepare(weights).columns, p, q)
    np.testing.assert_allclose(found, [dual(weights, *pair) for pair in zip(p, q, strict=True)], atol=1e-8)
    other = weights @ np.random.default_rng(1).normal(size=(r, r)) + 3.0
    np.testing.assert_allclose(moment_error(prepare(other).columns, p, q), found, atol=1e-8)


def test_the_error_is_at_most_the_distances_from_the_truth_and_from_the_nearest_distribution():
    weights, q, p = drawn(2, 40, 6, 20)
    basis, nearest = prepare(weights).columns, np.exp(project(weights, p).log_q)
    found = moment_error(basis, p, q)
    assert (found <= abs(p - q).sum(axis=1) / 2 + 1e-9).all()
    assert (found <= abs(nearest - q).sum(axis=1) / 2 + 1e-9).all()
    assert (found > 0.01).all()
    np.testing.assert_allclose(moment_error(basis, p, nearest), 0, atol=1e-8)


def test_a_head_of_full_rank_errs_by_the_whole_distance_and_rejects_nothing():
    weights, q, p = drawn(3, 10, 12, 4)
    found = measured(weights, q, p)
    np.testing.assert_array_equal(found["moment"], found["tv"])
    assert not found["rejected"].any()
    assert not found["nearest_exceeding"].any()


def test_a_truth_that_the_head_gives_is_its_own_nearest_distribution():
    weights, q, _ = drawn(4, 40, 5, 10)
    found = measured(weights, q, q)
    np.testing.assert_allclose(found["moment"], 0, atol=1e-12)
    assert not found["changed"].any()
    assert not found["exceeding"].any()
    assert not found["nearest_exceeding"].any()
    assert found["rejected"].any()


def with_zeros(seed, v, r, n):
    """Return a head, distributions that it gives, and truths that give nothing to half of the tokens."""
    weights, q, p = drawn(seed, v, r, n, 1.0)
    for row in p:
        row[np.random.default_rng(seed).permutation(v)[: v // 2]] = 0
    return weights, q, p / p.sum(axis=1, keepdims=True)


def test_where_the_premise_is_true_no_accepted_token_lacks_probability():
    """The theorem: with the truth's moments, and a delta that lets it exceed as far as it does, acceptance proves."""
    weights, q, p = with_zeros(5, 16, 7, 12)
    nearest = np.exp(project(weights, p).log_q)
    np.testing.assert_allclose(nearest @ weights, p @ weights, atol=1e-7)
    accepted = 0
    for i, row in enumerate(nearest):
        delta = float(np.log((p[i] / row).max()) + 1e-6)
        found = measured(weights, q[[i]], p[[i]], delta=delta)
        assert found["nearest_exceeding"] == 0
        assert found["nearest_accepted_unlikely"] == 0
        accepted += 16 - int(found["nearest_rejected"][0])
    assert accepted > 12


def test_with_other_moments_an_accepted_token_may_lack_probability():
    weights, q, p = with_zeros(6, 16, 7, 12)
    found = measured(weights, q, p, delta=5.0)
    bounded = found["exceeding"] == 0
    assert (found["moment"] > 0.01).all()
    assert found["accepted_unlikely"][bounded].sum() > 0


def test_with_a_truth_above_the_bound_an_accepted_token_may_lack_probability():
    weights, q, p = with_zeros(6, 16, 7, 12)
    found = measured(weights, q, p, delta=0.01)
    assert (found["nearest_exceeding"] > 0).all()
    assert found["nearest_accepted_unlikely"].sum() > 0


@pytest.fixture
def study(tmp_path):
    """A head of rank 5, and logits of a model and of two truths over three windows."""
    rng = np.random.default_rng(7)
    weights = rng.normal(size=(32, 5)).astype(np.float32)
    description = {"config": json.dumps({"rank": 5, "bottleneck_norm": "before"})}
    save_file({"head.weight": weights}, tmp_path / "w.safetensors", description)
    logits = {"model": rng.normal(size=(18, 5)) @ weights.T}
    logits |= {name: logits["model"] + rng.normal(size=(18, 32)) * scale for name, scale in (("near", 1), ("far", 6))}
    for name, rows in logits.items():
        with open_writer(tmp_path / f"{name}.parquet", logits_schema(32), {}) as writer:
            for i, window in enumerate((0, 4, 5)):
                own = rows[6 * i : 6 * i + 6]
                columns = [*window_keys(window, np.zeros(6, int)), vector_array(own)]
                writer.write_batch(pa.record_batch(columns, schema=logits_schema(32)))
    return tmp_path, weights, {name: rows.astype(np.float32).astype(float) for name, rows in logits.items()}


def made(folder):
    script.main(
        SimpleNamespace(
            input=SimpleNamespace(
                weights=folder / "w.safetensors",
                model=folder / "model.parquet",
                truths=[folder / "near.parquet", folder / "far.parquet"],
            ),
            output=[folder / "out.parquet"],
            params=SimpleNamespace(settings=SETTINGS | {"truths": ["near", "far"], "per_window": 2}),
            wildcards=SimpleNamespace(model="bn5"),
            threads=1,
        )
    )
    return pd.read_parquet(folder / "out.parquet").astype({"truth": str})


def test_the_file_has_what_linear_programs_per_token_give(study):
    folder, weights, logits = study
    found = made(folder)
    assert list(found) == PREMISE.names
    assert found.groupby(["truth", "window"]).position.apply(list).to_dict() == {
        (truth, window): [1, 4] for truth in ("near", "far") for window in (0, 4, 5)
    }
    at = [1, 4, 7, 10, 13, 16]
    q = np.exp(log_softmax(logits["model"][at], axis=1))
    for truth, own in found.groupby("truth"):
        p = np.exp(log_softmax(logits[truth][at], axis=1))
        for i, row in enumerate(own.to_dict("records")):
            order = np.argsort(-p[i])
            nucleus = order[: np.searchsorted(np.cumsum(p[i][order]), 0.9) + 1]
            assert (row["nucleus"], row["unlikely"]) == (len(nucleus), (p[i] < 1e-6).sum())
            assert row["tv"] == pytest.approx(abs(p[i] - q[i]).sum() / 2)
            sets = {}
            for prefix, own_q in (("", q[i]), ("nearest_", np.exp(project(weights, p[[i]]).log_q[0]))):
                sets[prefix] = rejected = reject_set_by_linear_programs(weights, own_q, 0.2)
                lost = [token for token in nucleus if rejected[token]]
                assert row[f"{prefix}rejected"] == rejected.sum()
                assert row[f"{prefix}rejected_nucleus"] == len(lost)
                assert row[f"{prefix}rejected_mass"] == pytest.approx(p[i][lost].sum())
                assert row[f"{prefix}accepted_unlikely"] == (~rejected & (p[i] < 1e-6)).sum()
                assert row[f"{prefix}exceeding"] == (p[i] > own_q * np.exp(0.2)).sum()
                assert row[f"{prefix}exceeding_nucleus"] == (p[i] > own_q * np.exp(0.2))[nucleus].sum()
                kept = set(np.argsort(-own_q)[: (~rejected).sum()].tolist())
                assert row[f"{prefix}top_rejected_nucleus"] == len(set(nucleus.tolist()) - kept)
                assert row[f"{prefix}top_accepted_unlikely"] == sum(p[i][token] < 1e-6 for token in kept)
            assert row["changed"] == (sets[""] != sets["nearest_"]).sum()
    assert found.changed.any()
    assert found.rejected_nucleus.any()
    assert found.accepted_unlikely.any()


FACTS = {"model": "bn5", "rank": 5, "seed": 1}


def test_the_table_has_the_means_of_the_file_and_shares_of_positions(study):
    folder, *_ = study
    found = made(folder)
    table = premise_table({"bn5": folder / "out.parquet"}, [FACTS], 200, 1)
    assert (table.n == 6).all()
    cells = table.set_index(["truth", "measure"]).value
    for truth, own in found.groupby("truth"):
        assert cells[truth, "moment"] == pytest.approx(own.moment.mean())
        assert cells[truth, "rejected"] == pytest.approx(own.rejected.mean())
        assert cells[truth, "nearest_top_rejected_mass"] == pytest.approx(own.nearest_top_rejected_mass.mean())
        more = own.rejected_mass - own.top_rejected_mass
        assert cells[truth, "more_lost"] == pytest.approx(more.mean())
        assert cells[truth, "nearest_exceeded_nucleus"] == pytest.approx((own.nearest_exceeding_nucleus > 0).mean())
        assert cells[truth, "exceeded"] == pytest.approx((own.exceeding > 0).mean())
    assert ((table.low <= table.value) & (table.value <= table.high)).all()


def test_the_page_shows_the_sets_of_the_model_beside_those_of_the_nearest_distribution(study):
    folder, *_ = study
    made(folder)
    outputs = {name: folder / f"t.{name}" for name in ("csv", "markdown", "html", "latex")}
    settings = {"models": [FACTS], "resamples": 200, "seed": 1}
    show.main(
        SimpleNamespace(
            input=SimpleNamespace(scores=[folder / "out.parquet"]),
            output=SimpleNamespace(**outputs),
            params=SimpleNamespace(settings=settings),
        )
    )
    table = read_record(outputs["csv"])
    cells = table.set_index(["truth", "measure"]).value
    page = premise_page(premise_table({"bn5": folder / "out.parquet"}, [FACTS], 200, 1), "T")
    assert len(page.sections) == 8  # four of each truth
    (model,), (nearest,) = page.sections[1].rows, page.sections[3].rows
    assert model["rejected"].mean == pytest.approx(cells["near", "rejected"], rel=1e-4)
    assert nearest["rejected"].mean == pytest.approx(cells["near", "nearest_rejected"], rel=1e-4)
    assert nearest["decided otherwise"].mean == pytest.approx(cells["near", "changed"], rel=1e-4)
    compared = compare_tables(table, table)  # each row has a name of its own
    assert (compared.difference == 0).all()
    assert "W^T" in outputs["markdown"].read_text()
