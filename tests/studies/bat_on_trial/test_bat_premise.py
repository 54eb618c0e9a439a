"""BAT's premise: the error of the moments against other solutions, what follows from the premise, and the files."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from scipy.optimize import linprog
from scipy.special import log_softmax
from step_jobs import job, outputs, write_logits

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.linear_programs import reject_set_by_linear_programs
from oversmoothing.forced.head import prepare as prepare_family
from oversmoothing.forced.projection import project
from oversmoothing.tables.compare import compare_tables
from oversmoothing.tables.record import chosen, read_record
from studies.bat_on_trial import premise, show_premise
from studies.bat_on_trial.premise import PREMISE, moment_error, premise_by_truth
from studies.bat_on_trial.show_premise import premise_page

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
    heads = prepare(weights), prepare_family(weights)
    return premise_by_truth(*heads, model, {"t": truth}, SETTINGS | settings)["t"]


def dual(weights, p, q):
    """The largest E_p f - E_q f - E_q max(0, -f - 1) over f <= 0 in the span of [W, 1]: a bound from the other side."""
    v = len(p)
    span = np.column_stack([weights, np.ones(v)])
    rows = np.block([[span, np.zeros((v, v))], [-span, -np.eye(v)]])
    costs = np.concatenate([-(p - q) @ span, q])
    bounds = [(None, None)] * span.shape[1] + [(0, None)] * v
    return -linprog(costs, rows, np.repeat([0.0, 1.0], v), bounds=bounds, method="highs").fun


@pytest.mark.parametrize("r", [1, 11])
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
    found = measured(weights, q, q)  # a truth that the head gives is its own nearest distribution
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


@pytest.fixture(scope="module")
def head():
    return np.random.default_rng(6).normal(size=(32, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def logits(head):
    """Logits of a model and of two truths over three windows."""
    rng = np.random.default_rng(7)
    model = rng.normal(size=(3, 6, 5)) @ head.T
    truths = {name: model + rng.normal(size=(3, 6, 32)) * scale for name, scale in (("near", 1), ("far", 6))}
    return {name: rows.astype(np.float32) for name, rows in ({"model": model} | truths).items()}


@pytest.fixture(scope="module")
def file(head, logits, tmp_path_factory):
    """What the step writes of two positions of each window."""
    tmp_path = tmp_path_factory.mktemp("premise")
    description = {"config": json.dumps({"rank": 5, "bottleneck_norm": "before"})}
    save_file({"head.weight": head}, tmp_path / "w.safetensors", description)
    files = {name: tmp_path / f"{name}.parquet" for name in logits}
    for name, path in files.items():
        write_logits(path, dict(zip((0, 4, 5), logits[name], strict=True)))
    inputs = {"weights": tmp_path / "w.safetensors", "model": files["model"], "truths": [files["near"], files["far"]]}
    settings = SETTINGS | {"truths": ["near", "far"], "per_window": 2}
    premise.main(job(inputs, tmp_path / "out.parquet", settings, model="bn5"))
    return tmp_path / "out.parquet"


def test_the_file_has_what_linear_programs_per_token_give(file, head, logits):
    written = pd.read_parquet(file).astype({"truth": str})
    assert list(written) == PREMISE.names
    assert written.groupby(["truth", "window"]).position.apply(list).to_dict() == {
        (truth, window): [1, 4] for truth in ("near", "far") for window in (0, 4, 5)
    }
    read = {name: rows[:, [1, 4]].reshape(6, 32).astype(float) for name, rows in logits.items()}
    laws = {name: np.exp(log_softmax(rows, axis=1)) for name, rows in read.items()}
    q = laws["model"]
    for truth, positions in written.groupby("truth"):
        p = laws[truth]
        for i, row in enumerate(positions.to_dict("records")):
            order = np.argsort(-p[i])
            nucleus = order[: np.searchsorted(np.cumsum(p[i][order]), 0.9) + 1]
            assert (row["nucleus"], row["unlikely"]) == (len(nucleus), (p[i] < 1e-6).sum())
            assert row["tv"] == pytest.approx(abs(p[i] - q[i]).sum() / 2)
            sets = {}
            for prefix, law in (("", q[i]), ("nearest_", np.exp(project(head, p[[i]]).log_q[0]))):
                sets[prefix] = rejected = reject_set_by_linear_programs(head, law, 0.2)
                lost = [token for token in nucleus if rejected[token]]
                kept = set(np.argsort(-law)[: (~rejected).sum()].tolist())
                above, unlikely = p[i] > law * np.exp(0.2), p[i] < 1e-6
                expected = {
                    "rejected": rejected.sum(),
                    "rejected_nucleus": len(lost),
                    "rejected_mass": pytest.approx(p[i][lost].sum()),
                    "accepted_unlikely": (~rejected & unlikely).sum(),
                    "exceeding": above.sum(),
                    "exceeding_nucleus": above[nucleus].sum(),
                    "top_rejected_nucleus": len(set(nucleus.tolist()) - kept),
                    "top_accepted_unlikely": unlikely[list(kept)].sum(),
                }
                assert {name: row[prefix + name] for name in expected} == expected
            assert row["changed"] == (sets[""] != sets["nearest_"]).sum()
    assert (written[["changed", "rejected_nucleus", "accepted_unlikely"]] > 0).any().all()


def test_the_table_has_the_means_of_the_file_and_the_page_shows_both_sets(file, tmp_path):
    written, output = pd.read_parquet(file).astype({"truth": str}), outputs(tmp_path)
    settings = {"models": [{"model": "bn5", "rank": 5, "seed": 1}], "resamples": 200, "seed": 1}
    show_premise.main(job({"scores": [file]}, output, settings))
    table = read_record(output.csv)
    assert (table.n == 6).all()
    assert ((table.low <= table.value) & (table.value <= table.high)).all()

    def value(truth, measure, decoding=None, condition=None, less=None):
        keys = {"measure": measure, "decoding": decoding, "condition": condition, "less": less}
        return chosen(table, truth=truth, **keys).value.item()

    for truth, positions in written.groupby("truth"):
        more_lost = positions.rejected_mass - positions.top_rejected_mass
        for keys, values in {
            ("moment",): positions.moment,
            ("exceeded_nucleus", None, "free"): positions.nearest_exceeding_nucleus > 0,
            ("rejected_mass", "cut", "free"): positions.nearest_top_rejected_mass,
            ("rejected_mass", "bat", None, "cut"): more_lost,
        }.items():
            assert value(truth, *keys) == pytest.approx(values.mean(), rel=1e-4), keys
    page = premise_page(table, "T")
    assert len(page.sections) == 8  # four of each truth
    (model,), (nearest,) = page.sections[1].rows, page.sections[3].rows
    assert model["rejected"].mean == value("near", "rejected", "bat")
    assert nearest["decided otherwise"].mean == value("near", "changed")
    assert (compare_tables(table, table).difference == 0).all()  # each row has a name of its own
    assert "W^T" in output.markdown.read_text()
