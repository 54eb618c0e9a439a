"""Files of what heads force, and the table of them: against the library, direct sums and stored scores."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import log_softmax
from step_jobs import job as step_job
from step_jobs import outputs, write_logits

import measure as step
from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.division import on_family
from oversmoothing.forced.face import UNDECIDED
from oversmoothing.forced.head import prepare
from oversmoothing.forced.projection import project
from oversmoothing.jobs import UserError
from oversmoothing.models.logit_files import head_file, save_head, states_batch, states_schema
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.spectra import ALONE
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.scores.files import NAME
from oversmoothing.scores.metrics import tto, tv
from oversmoothing.scores.nucleus import nucleus
from oversmoothing.store.parquet import open_writer, read_table, write_table
from oversmoothing.store.tensors import stored, write_tensors
from oversmoothing.tables.record import read_record
from studies.forced_part import table as table_step

FORCED_SCORES = pa.schema(
    [
        *[("window", pa.int32()), ("position", pa.int32()), ("truth", NAME)],
        *((name, pa.float64()) for name in ("kl", "forced", "rest", "gap")),
        *((name, pa.float32()) for name in ("tto", "tv", "nearest_tto", "nearest_tv")),
        *[("face", pa.int8()), ("norm_forced", pa.float64())],
    ]
)
V, R, TAU = 24, 5, 0.9
RNG = np.random.default_rng(0)
HEAD, GAIN = RNG.normal(size=(V, R)).astype(np.float32), (1 + RNG.random(R)).astype(np.float32)
WINDOWS, SCORED = (3, 4, 8), 6


def normed(rows):
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))


def logits_of():
    """Logits of states behind a LayerNorm under the head."""
    entering = normed(np.random.default_rng(1).normal(size=(len(WINDOWS) * SCORED, R))) * GAIN
    return (entering @ HEAD.T).astype(np.float32)


def truth_logits(seed=2):
    return (2 * np.random.default_rng(seed).normal(size=(len(WINDOWS) * SCORED, V))).astype(np.float32)


def write(path, logits):
    write_logits(path, dict(zip(WINDOWS, np.split(logits, len(WINDOWS)), strict=True)))


def write_weights(path, norm="after"):
    tensors = {"head.weight": stored(HEAD), "norm.weight": stored(GAIN)}
    write_tensors(path, tensors, {"config": f'{{"rank": 4, "bottleneck_norm": "{norm}"}}'})


@pytest.fixture
def job(tmp_path):
    write_weights(tmp_path / "weights.safetensors")
    for name, logits in (("model", logits_of()), ("truth", truth_logits()), ("other", truth_logits(3))):
        write(tmp_path / f"{name}.parquet", logits)
    inputs = {"weights": tmp_path / "weights.safetensors", "model": tmp_path / "model.parquet"}
    inputs["truths"] = [tmp_path / "truth.parquet", tmp_path / "other.parquet"]
    settings = {"rank": None, "tau": TAU, "per_window": None, "norm_per_window": None, "truths": ["truth", "other"]}
    return step_job(inputs, tmp_path / "bn5-s1.parquet", settings, {"measure": "forced"}, model="bn5-s1")


def run(job):
    step.main(job)
    return read_table(job.output[0]).to_pandas().astype({"truth": str})


def assert_forced(job, expected):
    """Compare what the step finds against the first truth."""
    found = run(job)
    np.testing.assert_allclose(found[found.truth == "truth"].forced, expected, rtol=1e-8)


def probabilities(logits):
    return np.exp(log_softmax(logits.astype(np.float64), axis=1))


def test_every_row_is_the_projection_of_its_position(job):
    """The rest is the divergence of the nearest from the model, taken at the closest distribution of its head."""
    found = run(job)
    assert read_table(job.output[0]).schema.equals(FORCED_SCORES)
    log_q = log_softmax(logits_of().astype(np.float64), axis=1)
    closest = on_family(prepare(behind_norm(HEAD, GAIN)), logits_of())
    for truth, seed in (("truth", 2), ("other", 3)):
        rows = found[found.truth == truth]
        assert rows.window.tolist() == np.repeat(WINDOWS, SCORED).tolist()
        assert rows.position.tolist() == [*range(SCORED)] * len(WINDOWS)
        p = probabilities(truth_logits(seed))
        nearest = project(behind_norm(HEAD, GAIN), p)
        np.testing.assert_allclose(rows.forced, nearest.forced, rtol=1e-9)
        np.testing.assert_allclose(rows.kl, rows.forced + rows.rest, rtol=1e-12)
        np.testing.assert_allclose(rows.rest, divergence(np.exp(nearest.log_q), closest), rtol=1e-8)
        np.testing.assert_allclose(rows.kl, divergence(p, log_q), atol=2e-6)  # of the float32 logits themselves
        for prefix, q in (("", np.exp(log_q)), ("nearest_", np.exp(nearest.log_q))):
            np.testing.assert_allclose(rows[f"{prefix}tto"], tto(q, p, TAU), atol=1e-6)
            np.testing.assert_allclose(rows[f"{prefix}tv"], tv(q, p), atol=1e-6)
        assert (rows.gap <= 1e-9).all()


def test_a_face_is_what_a_growing_input_approaches(job):
    """Where the nucleus is a face, some direction of the rows is largest exactly on it, up to its differences."""
    found = run(job)
    faces = found[found.truth == "truth"].face
    inside = nucleus(probabilities(truth_logits()), TAU)
    rows = behind_norm(HEAD, GAIN)
    single = inside.sum(axis=1) == 1
    assert (faces[~single] == 0).any()
    for face, mask in zip(faces[single], inside[single], strict=True):
        reached = [int(np.argmax(rows @ y)) for y in np.random.default_rng(5).normal(size=(20000, R))]
        assert (face == 1) == (int(np.argmax(mask)) in reached)


def test_some_positions_of_each_window(job):
    whole = run(job)
    job.params.settings["per_window"] = 2
    some = run(job)
    assert some.position.tolist() == [1, 4] * 2 * len(WINDOWS)
    both = some.merge(whole, on=["window", "position", "truth"], suffixes=("", "_whole"))
    np.testing.assert_allclose(both.forced, both.forced_whole, rtol=1e-9)


def test_a_head_behind_a_linear_is_free_in_all_its_dimensions(job):
    write_weights(job.input.weights, norm="before")
    expected = project(HEAD, probabilities(truth_logits())).forced
    assert_forced(job, expected)
    assert (expected < project(behind_norm(HEAD, GAIN), probabilities(truth_logits())).forced).all()


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_states_over_tokens_and_a_head_alone_with_a_bias(job, tmp_path, precision):
    rng = np.random.default_rng(8)
    bias, states = rng.normal(size=V).astype(np.float32), rng.normal(size=(len(WINDOWS), SCORED, R)).astype(np.float32)
    path = tmp_path / "model.parquet"
    seal = save_head(head_file(path), HEAD, bias, {"head": ALONE})
    with open_writer(path, states_schema(R, precision), seal) as writer:
        for window, rows in zip(WINDOWS, states, strict=True):
            batch = states_batch(WindowStates(window, np.zeros(SCORED, np.int32), None, rows, rows, None), precision)
            writer.write_batch(batch)
    job.input.weights = head_file(path)
    assert_forced(job, project(HEAD, probabilities(truth_logits()), bias).forced)


def test_logits_that_the_head_cannot_give_are_refused_by_the_name_of_their_file(job):
    write(job.input.model, 3 * np.tanh(logits_of() / 3))
    with pytest.raises(UserError, match=r"model\.parquet: .* off what its head can give"):
        step.main(job)


def test_norm_and_head_force_at_most_what_a_search_finds_on_the_norms_outputs(job):
    job.params.settings["norm_per_window"] = 2
    found = run(job)
    known = found[(found.truth == "truth") & found.norm_forced.notna()]
    assert known.position.tolist() == [1, 4] * len(WINDOWS)
    points = normed(np.random.default_rng(11).normal(size=(200_000, R))) * GAIN
    log_q = log_softmax(points @ HEAD.T.astype(np.float64), axis=1)
    p = probabilities(truth_logits()).reshape(len(WINDOWS), SCORED, V)[:, [1, 4]].reshape(-1, V)
    searched = np.array([(row @ np.log(row)) - (log_q @ row).max() for row in p])
    assert (known.norm_forced <= searched + 1e-9).all()
    np.testing.assert_allclose(known.norm_forced, searched, atol=0.02)
    assert (known.norm_forced >= known.forced).all()
    assert (known.norm_forced <= known.kl + 1e-6).all()  # the model's own distribution is one of them


def write_scores(path, seed, n=6):
    """Random rows of a file of scores; the truth's nucleus is undecided at one position."""
    rng = np.random.default_rng(seed)
    size = len(WINDOWS) * n
    rows = pd.DataFrame({field.name: rng.random(size) for field in FORCED_SCORES}).assign(
        window=np.repeat(WINDOWS, n),
        position=np.tile(range(n), len(WINDOWS)),
        truth="truth",
        kl=lambda rows: rows.forced + rows.rest,
        face=[UNDECIDED, *rng.integers(0, 2, size - 1)],
        norm_forced=lambda rows: rows.norm_forced.where(rows.position % 2 == 1),
    )
    write_table(path, pa.Table.from_pandas(rows, preserve_index=False).cast(FORCED_SCORES), {})
    return rows


def test_the_table_against_direct_sums(tmp_path):
    models = [{"model": f"bn4-s{seed}", "kind": "family", "rank": 4, "seed": seed} for seed in (1, 2)]
    files = {model["model"]: tmp_path / f"{model['model']}.parquet" for model in models}
    scores = {name: write_scores(path, seed) for seed, (name, path) in enumerate(files.items(), 1)}
    output = outputs(tmp_path)
    settings = {"title": "Forced.", "models": models, "resamples": 500, "seed": 0}
    table_step.main(step_job({"scores": list(files.values())}, output, settings))
    table = read_record(output.csv).set_index(["model", "measure"])
    for name, rows in scores.items():
        summaries = table.loc[name]
        for measure in ("kl", "forced", "rest", "tto", "nearest_tto", "tv", "nearest_tv"):
            assert summaries.value[measure] == pytest.approx(rows[measure].mean(), rel=1e-5)
            assert summaries.sd[measure] == pytest.approx(rows[measure].std(), rel=1e-5)
            assert summaries.low[measure] <= summaries.value[measure] <= summaries.high[measure]
        known = rows[rows.norm_forced.notna()]
        means = {"norm_kl": known.kl.mean(), "norm_forced": known.norm_forced.mean(), "gap": rows.gap.max()}
        means |= {"share": rows.forced.mean() / rows.kl.mean(), "face": (rows.face[1:] == 1).mean()}
        assert summaries.value[list(means)].to_dict() == pytest.approx(means, rel=1e-5)
        counts = {"norm_forced": len(known), "face": len(rows) - 1, "kl": len(rows)}
        assert summaries.n[list(counts)].to_dict() == counts
        assert summaries.low["share"] < summaries.value["share"] < summaries.high["share"]
        assert np.isnan(summaries.low["gap"])
    assert output.png.stat().st_size > 10_000
    page = output.markdown.read_text()
    assert "mean of 2" in page
    assert f"{np.mean([rows.forced.mean() for rows in scores.values()]):.4f}" in page
