"""Each snapshot against direct computation and stored logits, and what people read of it."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from step_jobs import job as step_job
from step_jobs import outputs

from oversmoothing.forced.projection import project
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.models.logits import logits_schema
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import save_model
from oversmoothing.numerics.layer_norm import behind_norm
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.scores.metrics import softmax, tto
from oversmoothing.store.parquet import open_writer, read_table, write_table
from studies.along_training import measure, show
from studies.along_training.sums import Dimensions
from studies.along_training.table import along_training_table, common_loss, steps

STEPS = (0, 1, 2, 4)
SHAPE = GPTConfig(layers=2, heads=2, width=16, block=32, rank=4)
WINDOWS = pa.table(
    {"window": pa.array([3, 5, 8], pa.int32()), "prompt": [b"abcd"] * 3, "scored": [b"efghijk", b"lmnopqr", b"1234567"]}
)


def model(seed, config=SHAPE):
    """A GPT whose weights are large enough that its distributions differ."""
    gpt = GPT(config, seed).eval()
    with torch.no_grad():
        for parameter in gpt.parameters():
            parameter *= 5 if parameter.dim() >= 2 else 1
    return gpt


def save(path, gpt, step):
    save_model(path, gpt.config, gpt.state_dict(), {"step": str(step)})


@pytest.fixture
def job(tmp_path):
    """A training's snapshots at steps 0 to 2, its final weights at 4, its history, and a truth's logits."""
    (tmp_path / "snapshots").mkdir()
    for step in STEPS[:-1]:
        save(tmp_path / f"snapshots/{step:08d}.safetensors", model(step), step)
    save(tmp_path / "weights.safetensors", model(4), 4)
    write_table(tmp_path / "history.parquet", pa.table({"step": [0, 2, 4]}), {})
    write_table(tmp_path / "windows.parquet", WINDOWS, {})
    with open_writer(tmp_path / "truth.parquet", logits_schema(256), {}) as writer:
        for state in run_windows(model(99), WINDOWS, 3):
            writer.write_batch(state.logits_batch())
    inputs = {
        "windows": tmp_path / "windows.parquet",
        "weights": tmp_path / "weights.safetensors",
        "snapshots": tmp_path / "snapshots",
        "history": tmp_path / "history.parquet",
        "truths": [tmp_path / "truth.parquet"],
    }
    settings = {"windows": 2, "truths": ["truth"], "tau": 0.9, "batch": 1, "precision": "float32", "threads": 1}
    settings |= {"backward_rank": None, "forced": None}
    outputs = {"measures": tmp_path / "out.parquet", "spectra": tmp_path / "spectra.parquet"}
    return step_job(inputs, outputs, settings, model="bn4-s1")


def measured(job, **settings):
    """Run the step; return its rows."""
    job.params.settings |= settings
    measure.main(job)
    return read_table(job.output.measures).to_pandas()


def direct(step):
    """Return a snapshot, and its states, logits and targets over the windows that are measured."""
    gpt = model(step)
    states = list(run_windows(gpt, WINDOWS.slice(0, 2), 2))
    logits = torch.from_numpy(np.concatenate([state.logits for state in states])).double()
    return gpt, states, logits, torch.from_numpy(np.concatenate([state.target for state in states])).long()


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 1000))
def test_outlier_dimensions_are_those_far_above_the_mean(n, d, seed):
    states = np.random.default_rng(seed).standard_t(1.5, (n, d))
    dimensions = Dimensions()
    for block in np.array_split(states, 3):
        dimensions.add(block)
    sizes = [math.sqrt(sum(x * x for x in column) / n) for column in states.T]
    far = np.mean(sizes) + 3 * np.std(sizes)
    assert dimensions.outliers() == sum(size > far * (1 + 1e-12) for size in sizes)
    assert dimensions.largest() == pytest.approx(max(sizes) ** 2 / sum(size**2 for size in sizes))


@pytest.mark.parametrize("backward_rank", [None, 2])
def test_each_snapshot_is_measured_as_if_all_were_kept(job, backward_rank):
    found = measured(job, backward_rank=backward_rank)
    assert list(found.step.unique()) == list(STEPS)
    assert set(found.n[found.measure == "loss"]) == {14}
    first = WINDOWS.slice(0, 2)
    truth = softmax(np.concatenate([state.logits for state in run_windows(model(99), first, 2)]))
    spectra = read_table(job.output.spectra).to_pandas().set_index(["step", "index"]).singular_value
    for step in STEPS:
        own = found[found.step == step].set_index("measure").value
        gpt, _, logits, targets = direct(step)
        logits.requires_grad_()
        loss = torch.nn.functional.cross_entropy(logits, targets)
        loss.backward()
        assert own["loss"] == pytest.approx(loss.item(), rel=1e-5)
        assert own["tto"] == pytest.approx(tto(softmax(logits.detach().float().numpy()), truth).mean(), rel=1e-4)
        left, sigma, _ = np.linalg.svd(gpt.head.weight.detach().double().numpy(), full_matrices=False)
        inside = (logits.grad.numpy() @ left[:, : backward_rank or 4]) ** 2
        assert own["gradient_share"] == pytest.approx(inside.sum() / (logits.grad**2).sum().item(), rel=1e-4)
        np.testing.assert_allclose(spectra[step], sigma, rtol=1e-6)
        shares = sigma / sigma.sum()
        assert own["singular_entropy"] == pytest.approx(math.log(4) + (shares * np.log(shares)).sum(), abs=1e-6)
        assert own["singular_entropy"] == pytest.approx(math.log(4) - math.log(own["effective_rank"]))
        outputs = torch.cat([state_of_last_block(gpt, row) for row in first.to_pylist()]).double()
        cosines = torch.nn.functional.normalize(outputs) @ torch.nn.functional.normalize(outputs).T
        n = len(outputs)
        assert own["anisotropy"].iloc[-1] == pytest.approx(float((cosines.sum() - n) / (n * n - n)), abs=1e-5)
        squares = outputs.square().sum(dim=0)
        assert own["largest_dimension"].iloc[-1] == pytest.approx(float(squares.max() / squares.sum()), rel=1e-4)


def test_what_the_head_forces_along_training_is_that_of_the_stored_logits(job):
    found = measured(job, forced=3)
    whole = found[found.measure.isin(["forced", "rest"])]
    assert (whole.n == 6).all()  # of two windows
    p = [softmax(rows.astype(np.float64))[[1, 3, 5]] for _, rows in logit_groups(job.input.truths[0])][:2]
    for step in STEPS:
        own = whole[whole.step == step].set_index("measure").value
        gpt, states, *_ = direct(step)
        weights, gain = (part.weight.detach().numpy() for part in (gpt.head, gpt.norm))
        q = [softmax(state.logits.astype(np.float64))[[1, 3, 5]] for state in states]
        p_all, q_all = np.concatenate(p), np.concatenate(q)
        assert own["forced"] == pytest.approx(project(behind_norm(weights, gain), p_all).forced.mean(), rel=1e-9)
        assert own.sum() == pytest.approx((p_all * np.log(p_all / q_all)).sum(axis=1).mean(), abs=1e-5)


def state_of_last_block(gpt, row):
    """In this model what enters the bottleneck Linear is what leaves the last block."""
    tokens = torch.tensor([list(row["prompt"] + row["scored"])])[:, :-1]
    with torch.no_grad():
        return gpt.hidden(tokens)[0][0, len(row["prompt"]) - 1 :]


def test_what_is_missing_or_of_other_windows_is_named(job):
    write_table(job.input.windows, WINDOWS.set_column(0, "window", pa.array([3, 5, 9], pa.int32())), {})
    with pytest.raises(UserError, match=r"truth\.parquet: other windows"):
        measured(job, windows=3)
    (job.input.snapshots / "00000002.safetensors").unlink()
    with pytest.raises(UserError, match=r"snapshots: the snapshot of step 2 is missing; delete the folder"):
        measure.main(job)
    for path in job.input.snapshots.iterdir():
        path.unlink()
    with pytest.raises(UserError, match=r"snapshots: no snapshots; .*training\.snapshots"):
        measure.main(job)


def test_the_table_has_all_steps_and_the_page_the_last(job, tmp_path):
    whole = measured(job)
    models = [{"model": f"bn{rank}-s1", "rank": rank, "seed": 1} for rank in (4, 8)]
    worse = whole.assign(value=whole.value + (whole.measure == "loss"))
    table = along_training_table([worse, whole], models)
    assert len(table) == 2 * len(STEPS) * (3 + 3 * 2 + 1 + 3 + len(AGAINST_TRUTHS))
    assert common_loss(table) == pytest.approx(steps(table, "bn4-s1")["loss"].min())
    assert list(steps(table, "bn8-s1", "truth").columns[:2]) == ["anisotropy 1", "anisotropy 2"]
    output = outputs(tmp_path)
    figures = {name: [tmp_path / f"{name}.svg"] for name in ("courses", "against_loss", "layers", "spectra")}
    vars(output).update(figures)
    inputs = {"measures": [job.output.measures], "spectra": [job.output.spectra]}
    show.main(step_job(inputs, output, {"models": models[:1], "unit": "byte"}))
    page = output.markdown.read_text()
    assert "Oversmoothing against `truth`" in page
    cells = page.splitlines()[6].split("|")
    last = steps(table, "bn8-s1", "truth").iloc[-1]
    assert cells[-3].strip() == f"{last['outlier_dimensions 2']:.0f}"
    assert f"| 4      | 4      | {last['loss']:.3f} " in page.replace("4    |", "4      |")
    assert len(pd.read_csv(output.csv)) == len(table) / 2
    assert all(path.stat().st_size > 5_000 for (path,) in figures.values())
