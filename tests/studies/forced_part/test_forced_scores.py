"""Files of what heads force, and the table of them: against the library, direct sums and stored scores."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import log_softmax

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.divide import on_family
from oversmoothing.forced.face import UNDECIDED
from oversmoothing.forced.head import prepare
from oversmoothing.forced.projection import project
from oversmoothing.jobs import UserError
from oversmoothing.models.factored_head import read_factored
from oversmoothing.models.heads import ModelHead
from oversmoothing.models.logit_files import head_file, save_head, states_batch, states_schema
from oversmoothing.models.logits import WindowStates, logits_schema, window_keys
from oversmoothing.models.spectra import ALONE, truncate
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.scores.metrics import tto, tv
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.store.parquet import open_writer, read_table, vector_array
from oversmoothing.store.tensors import stored, write_tensors
from oversmoothing.tables.record import read_record
from studies.forced_part import measure as step
from studies.forced_part import show
from studies.forced_part.measure import FORCED_SCORES, score

V, R, TAU = 24, 5, 0.9
RNG = np.random.default_rng(0)
HEAD, GAIN = RNG.normal(size=(V, R)).astype(np.float32), (1 + RNG.random(R)).astype(np.float32)
WINDOWS, SCORED = (3, 4, 8), 6


def normed(rows):
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))


def logits_of(rank=None, seed=1):
    """Logits of states behind a LayerNorm under the head, or under the head truncated to a rank."""
    entering = normed(np.random.default_rng(seed).normal(size=(len(WINDOWS) * SCORED, R))) * GAIN
    return (entering @ (HEAD if rank is None else truncate(HEAD, rank)).T).astype(np.float32)


def truth_logits(seed=2):
    return (2 * np.random.default_rng(seed).normal(size=(len(WINDOWS) * SCORED, V))).astype(np.float32)


def write_logits(path, logits, windows=WINDOWS):
    schema = logits_schema(logits.shape[1])
    with open_writer(path, schema, {}) as writer:
        for window, rows in zip(windows, np.split(logits, len(windows)), strict=True):
            keys = window_keys(window, np.zeros(SCORED, np.int32))
            writer.write_batch(pa.record_batch([*keys, vector_array(rows)], schema=schema))


def write_weights(path, rank=4, norm="after"):
    tensors = {"head.weight": stored(HEAD), "norm.weight": stored(GAIN)}
    write_tensors(path, tensors, {"config": f'{{"rank": {rank}, "bottleneck_norm": "{norm}"}}'})


@pytest.fixture
def job(tmp_path):
    write_weights(tmp_path / "weights.safetensors")
    write_logits(tmp_path / "model.parquet", logits_of())
    for name, seed in (("truth", 2), ("other", 3)):
        write_logits(tmp_path / f"{name}.parquet", truth_logits(seed))
    return SimpleNamespace(
        input=SimpleNamespace(
            weights=tmp_path / "weights.safetensors",
            model=tmp_path / "model.parquet",
            truths=[tmp_path / "truth.parquet", tmp_path / "other.parquet"],
        ),
        output=[tmp_path / "bn5-s1.parquet"],
        params=SimpleNamespace(
            settings={
                "rank": None,
                "tau": TAU,
                "per_window": None,
                "norm_per_window": None,
                "truths": ["truth", "other"],
            }
        ),
        wildcards=SimpleNamespace(model="bn5-s1"),
    )


def run(job):
    step.main(job)
    return read_table(job.output[0]).to_pandas().astype({"truth": str})


def probabilities(logits):
    return np.exp(log_softmax(logits.astype(np.float64), axis=1))


def test_every_row_is_the_projection_of_its_position(job):
    found = run(job)
    assert read_table(job.output[0]).schema.equals(FORCED_SCORES)
    q, log_q = probabilities(logits_of()), log_softmax(logits_of().astype(np.float64), axis=1)
    for truth, seed in (("truth", 2), ("other", 3)):
        own = found[found.truth == truth]
        assert own.window.tolist() == np.repeat(WINDOWS, SCORED).tolist()
        assert own.position.tolist() == [*range(SCORED)] * len(WINDOWS)
        p = probabilities(truth_logits(seed))
        nearest = project(behind_norm(HEAD, GAIN), p)
        np.testing.assert_allclose(own.forced, nearest.forced, rtol=1e-9)
        np.testing.assert_allclose(own.kl, own.forced + own.rest, rtol=1e-12)
        np.testing.assert_allclose(own.kl, divergence(p, log_q), atol=2e-6)  # of the float32 logits themselves
        np.testing.assert_allclose(own.tto, tto(q, p, TAU), atol=1e-6)
        np.testing.assert_allclose(own.tv, tv(q, p), atol=1e-6)
        np.testing.assert_allclose(own.nearest_tto, tto(np.exp(nearest.log_q), p, TAU), atol=1e-6)
        np.testing.assert_allclose(own.nearest_tv, tv(np.exp(nearest.log_q), p), atol=1e-6)
        assert (own.gap <= 1e-9).all()


def test_what_is_left_is_the_divergence_of_the_nearest_from_the_model(job):
    """The identity, for the model at the closest distribution of its head."""
    found = run(job)
    own = found[found.truth == "truth"]
    p = probabilities(truth_logits())
    nearest, q = project(behind_norm(HEAD, GAIN), p), on_family(prepare(behind_norm(HEAD, GAIN)), logits_of())
    np.testing.assert_allclose(own.rest, divergence(np.exp(nearest.log_q), q), rtol=1e-8)


def test_a_face_is_what_a_growing_input_approaches(job):
    """Where the nucleus is a face, some direction of the rows is largest exactly on it, up to its differences."""
    found = run(job)
    own = found[found.truth == "truth"]
    inside = nucleus(probabilities(truth_logits()), TAU)
    rows = behind_norm(HEAD, GAIN)
    single = inside.sum(axis=1) == 1
    assert (own.face[~single] == 0).any()
    for face, mask in zip(own.face[single], inside[single], strict=True):
        reached = [int(np.argmax(rows @ y)) for y in np.random.default_rng(5).normal(size=(20000, R))]
        assert (face == 1) == (int(np.argmax(mask)) in reached)


def test_some_positions_of_each_window(job):
    whole = run(job)
    job.params.settings["per_window"] = 2
    some = run(job)
    assert some.position.tolist() == [1, 4] * 2 * len(WINDOWS)
    both = some.merge(whole, on=["window", "position", "truth"], suffixes=("", "_whole"))
    np.testing.assert_allclose(both.forced, both.forced_whole, rtol=1e-9)


def test_a_truncated_head_behind_the_same_norm(job):
    write_logits(job.input.model, logits_of(rank=3))
    job.params.settings |= {"rank": 3}
    found = run(job)
    expected = project(behind_norm(truncate(HEAD, 3), GAIN), probabilities(truth_logits())).forced
    np.testing.assert_allclose(found[found.truth == "truth"].forced, expected, rtol=1e-6)


def test_a_head_behind_a_linear_is_free_in_all_its_dimensions(job, tmp_path):
    write_weights(tmp_path / "weights.safetensors", norm="before")
    found = run(job)
    expected = project(HEAD, probabilities(truth_logits())).forced
    np.testing.assert_allclose(found[found.truth == "truth"].forced, expected, rtol=1e-8)
    assert (expected < project(behind_norm(HEAD, GAIN), probabilities(truth_logits())).forced).all()


@pytest.mark.parametrize("norm", [False, True])
def test_heads_in_factors_are_those_that_made_the_logits(job, norm):
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(V, 3)).astype(np.float32), rng.normal(size=(3, R)).astype(np.float32)
    gain = (1 + rng.random(3)).astype(np.float32) if norm else None
    between = {"norm": stored(gain)} if norm else {}
    write_tensors(job.input.weights, {"A": stored(a), "B": stored(b), **between}, {})
    head, before = read_factored(job.input.weights)
    post = rng.normal(size=(len(WINDOWS) * SCORED, R)).astype(np.float32)
    write_logits(job.input.model, (before(post) if before else post) @ head.T)
    found = run(job)
    expected = project(a if gain is None else behind_norm(a, gain), probabilities(truth_logits())).forced
    np.testing.assert_allclose(found[found.truth == "truth"].forced, expected, rtol=1e-5)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_states_over_tokens_and_a_head_alone_with_a_bias(job, tmp_path, precision):
    rng = np.random.default_rng(8)
    bias, states = rng.normal(size=V).astype(np.float32), rng.normal(size=(len(WINDOWS), SCORED, R)).astype(np.float32)
    path = tmp_path / "model.parquet"
    seal = save_head(head_file(path), HEAD, bias, {"head": ALONE})
    with open_writer(path, states_schema(R, precision), seal) as writer:
        for window, own in zip(WINDOWS, states, strict=True):
            batch = states_batch(WindowStates(window, np.zeros(SCORED, np.int32), None, own, own, None), precision)
            writer.write_batch(batch)
    job.input.weights = head_file(path)
    found = run(job)
    expected = project(HEAD, probabilities(truth_logits()), bias)
    np.testing.assert_allclose(found[found.truth == "truth"].forced, expected.forced, rtol=1e-8)


def test_a_head_of_full_rank_forces_nothing(job, tmp_path):
    square = np.random.default_rng(9).normal(size=(V, V)).astype(np.float32)
    write_tensors(
        job.input.weights,
        {"head.weight": stored(square), "norm.weight": stored(np.ones(V, np.float32))},
        {"config": '{"rank": null, "bottleneck_norm": "after"}'},
    )
    found = run(job)
    assert (found[["forced", "gap", "nearest_tto", "nearest_tv"]] == 0).all(axis=None)
    assert (found.face == 1).all()
    np.testing.assert_array_equal(found.rest, found.kl)


def test_logits_that_the_head_cannot_give_are_refused_by_the_name_of_their_file(job):
    write_logits(job.input.model, 3 * np.tanh(logits_of() / 3))
    with pytest.raises(UserError, match=r"model\.parquet: .* off what its head can give"):
        step.main(job)


def test_truths_with_zeros_have_a_limit_that_the_gap_tells_of():
    p = np.zeros((1, V))
    p[0, :2] = 0.25, 0.75
    own = ModelHead(HEAD, GAIN)
    found = score(own, own.prepared(), logits_of()[:1], p, TAU, None)
    assert np.isfinite([found.kl, found.forced, found.rest, found.gap]).all()
    assert found.kl[0] == pytest.approx(found.forced[0] + found.rest[0])


def test_norm_and_head_force_at_most_what_a_search_finds_on_the_norms_outputs(job):
    job.params.settings["norm_per_window"] = 2
    found = run(job)
    own = found[(found.truth == "truth") & found.norm_forced.notna()]
    assert own.position.tolist() == [1, 4] * len(WINDOWS)
    points = normed(np.random.default_rng(11).normal(size=(200_000, R))) * GAIN
    log_q = log_softmax(points @ HEAD.T.astype(np.float64), axis=1)
    p = probabilities(truth_logits()).reshape(len(WINDOWS), SCORED, V)[:, [1, 4]].reshape(-1, V)
    searched = np.array([(row @ np.log(row)) - (log_q @ row).max() for row in p])
    assert (own.norm_forced <= searched + 1e-9).all()
    np.testing.assert_allclose(own.norm_forced, searched, atol=0.02)
    assert (own.norm_forced >= own.forced).all()
    assert (own.norm_forced <= own.kl + 1e-6).all()  # the model's own distribution is one of them


# the table


def write_scores(path, seed, n=6):
    """Random rows of a file of scores; the truth's nucleus is undecided at one position."""
    rng = np.random.default_rng(seed)
    size = len(WINDOWS) * n
    columns = {field.name: rng.random(size) for field in FORCED_SCORES}
    columns |= {"window": np.repeat(WINDOWS, n), "position": np.tile(range(n), len(WINDOWS))}
    columns |= {"truth": ["truth"] * size, "kl": columns["forced"] + columns["rest"]}
    columns["face"] = rng.integers(0, 2, size)
    columns["face"][0] = UNDECIDED
    columns["norm_forced"] = np.where(columns["position"] % 2, columns["norm_forced"], np.nan)
    arrays = [
        pa.array(columns[field.name]).dictionary_encode().cast(field.type)
        if field.name == "truth"
        else pa.array(columns[field.name], from_pandas=True).cast(field.type)
        for field in FORCED_SCORES
    ]
    with open_writer(path, FORCED_SCORES, {}) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=FORCED_SCORES))
    return pd.DataFrame(columns)


def test_the_table_against_direct_sums(tmp_path):
    models = [{"model": f"bn4-s{seed}", "kind": "family", "rank": 4, "seed": seed} for seed in (1, 2)]
    truth = {row["model"]: write_scores(tmp_path / f"{row['model']}.parquet", row["seed"]) for row in models}
    formats = ("csv", "markdown", "html", "latex", "png", "pdf", "svg")
    output = SimpleNamespace(**{kind: tmp_path / f"forced.{kind}" for kind in formats})
    show.main(
        SimpleNamespace(
            input=SimpleNamespace(scores=[tmp_path / f"{name}.parquet" for name in truth]),
            output=output,
            params=SimpleNamespace(
                settings={"title": "Forced.", "models": models, "kinds": [], "resamples": 500, "seed": 0}
            ),
        )
    )
    table = read_record(output.csv).set_index(["model", "measure"])
    for name, rows in truth.items():
        own = table.loc[name]
        for measure in ("kl", "forced", "rest", "tto", "nearest_tto", "tv", "nearest_tv"):
            assert own.value[measure] == pytest.approx(rows[measure].mean(), rel=1e-5)
            assert own.sd[measure] == pytest.approx(rows[measure].std(), rel=1e-5)
            assert own.low[measure] <= own.value[measure] <= own.high[measure]
        known = rows.norm_forced.notna()
        assert own.value["norm_kl"] == pytest.approx(rows.kl[known].mean(), rel=1e-5)
        assert own.value["norm_forced"] == pytest.approx(rows.norm_forced[known].mean(), rel=1e-5)
        assert own.n["norm_forced"] == known.sum()
        assert own.value["share"] == pytest.approx(rows.forced.mean() / rows.kl.mean(), rel=1e-5)
        assert own.low["share"] < own.value["share"] < own.high["share"]
        assert own.value["face"] == pytest.approx((rows.face[1:] == 1).mean(), rel=1e-5)
        assert (own.n["face"], own.n["kl"]) == (len(rows) - 1, len(rows))
        assert own.value["gap"] == pytest.approx(rows.gap.max(), rel=1e-5)
        assert np.isnan(own.low["gap"])
    assert output.png.stat().st_size > 10_000
    page = output.markdown.read_text()
    assert "mean of 2" in page
    assert f"{np.mean([rows.forced.mean() for rows in truth.values()]):.4f}" in page
