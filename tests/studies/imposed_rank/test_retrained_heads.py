"""Retrained heads: against the trained head, the family's own, a source of known rank, and SciPy at the optimum."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from corpus_jobs import assert_a_flipped_bit_is_noticed
from default_config import default
from safetensors.torch import load_file
from scipy.optimize import minimize
from scipy.special import logsumexp
from small_training import TEXT
from step_jobs import job, write_splits
from torch.nn import functional as F

import head_logits as logits_script
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logits import hidden_schema
from oversmoothing.models.model import GPT
from oversmoothing.models.spectra import ALONE, READS, truncate
from oversmoothing.models.weights import save_model, save_tensors
from oversmoothing.store.parquet import open_writer, read_table, vectors
from oversmoothing.training.batches import inputs_and_targets, training_batch, validation_batches
from studies.imposed_rank import retrain as script
from studies.imposed_rank.heads import factors, initial, retrain
from studies.imposed_rank.optimum import optimise
from studies.imposed_rank.plan import head_settings, models, retraining_flops

SHAPE = GPTConfig(layers=1, heads=2, width=16, block=24, rank=12, dropout=0.1)
SETTINGS = {
    "rank": 3,
    "norm": "none",
    "reads": "post",
    "batch": 4,
    "max_steps": 60,
    "learning_rate": 0.02,
    "warmup_steps": 5,
    "evaluation_interval": 25,
    "evaluation_batches": 3,
    "seed": 2,
}


def fit(config, text, steps, learning_rate=0.01, batch=16):
    """A GPT trained for a few steps, in evaluation mode."""
    torch.manual_seed(0)  # of the dropout masks
    model = GPT(config, 1)
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate * (1 - step / steps)
        loss = cross_entropy(model, training_batch(text, 1, step, 1, batch, config.block)[0])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return model.eval()


def cross_entropy(model, sequences):
    inputs, targets = inputs_and_targets(sequences)
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def held_out(text, settings, block):
    batches = validation_batches(text, settings["evaluation_batches"], settings["batch"], block)
    return torch.cat(list(batches))


@pytest.fixture(scope="module")
def model():
    return fit(SHAPE, TEXT, 60)


def test_the_first_loss_is_that_of_the_truncated_head_and_training_lowers_it(model):
    text = TEXT[:500]
    _, history = retrain(model, TEXT, text, SETTINGS, "float32")
    assert [row["step"] for row in history] == [0, 25, 50, 60]
    assert [row["bytes"] for row in history] == [row["step"] * 4 * 24 for row in history]
    cut = GPT(SHAPE)
    cut.load_state_dict(model.state_dict())
    cut.eval().head.weight.data = torch.from_numpy(truncate(model.head.weight.detach().numpy(), 3)).float()
    with torch.no_grad():
        expected = cross_entropy(cut, held_out(text, SETTINGS, 24)).item()
    assert history[0]["validation_loss"] == pytest.approx(expected, abs=1e-5)
    assert history[0]["train_loss"] is None
    assert history[-1]["validation_loss"] < history[0]["validation_loss"] - 0.1


@pytest.fixture(scope="module")
def narrow():
    """A model that was trained behind a head W = A B of rank 3."""
    return fit(GPTConfig(**{**vars(SHAPE), "rank": 3, "bottleneck_norm": "before"}), TEXT, 60)


CELLS = {"full on full": (None, "post"), "full on narrow": (None, "pre"), "narrow on narrow": (3, "pre")}


@pytest.mark.parametrize("cell", CELLS)
def test_without_a_step_a_head_on_its_trunk_is_the_models_own(model, narrow, cell):
    rank, reads = CELLS[cell]
    of = model if reads == "post" else narrow
    settings = {**SETTINGS, "rank": rank, "reads": reads, "max_steps": 0}
    head, history = retrain(of, TEXT, TEXT[:500], settings, "float32")
    inputs, _ = inputs_and_targets(held_out(TEXT[:500], settings, 24))
    with torch.no_grad():
        entering = of.hidden(inputs)[0 if reads == "pre" else 1]
        matrix = head["A"] @ head["B"] if rank else head["head.weight"]
        np.testing.assert_allclose(entering @ matrix.T, of(inputs), atol=1e-4)
        trained = cross_entropy(of, held_out(TEXT[:500], settings, 24)).item()
    assert [row["validation_loss"] for row in history] == [pytest.approx(trained, abs=1e-5)]


def test_the_kept_head_is_the_best(model):
    """A learning rate that ruins the head: what is kept is what it began with."""
    head, history = retrain(model, TEXT, TEXT[:500], {**SETTINGS, "rank": 12, "learning_rate": 50.0}, "float32")
    losses = [row["validation_loss"] for row in history]
    assert min(losses) == losses[0] < losses[-1]
    np.testing.assert_allclose((head["A"] @ head["B"]).numpy(), model.head.weight.detach().numpy(), atol=1e-5)


def family_head(post, weights):
    """The way from what enters the trained head to the logits, by a GPT of that rank: its own modules, no copy."""
    gpt = GPT(GPTConfig(layers=0, heads=1, width=12, block=1, rank=3)).eval()
    gpt.bottleneck.weight.data, gpt.norm.weight.data = weights["B"], weights["norm"]
    gpt.head.weight.data = weights["A"]
    with torch.no_grad():
        return gpt.logits(gpt.norm(gpt.bottleneck(post))).numpy()


def test_a_head_with_a_layer_norm_is_that_of_a_member_of_the_family(model):
    """And has the loss that its history tells."""
    settings = {**SETTINGS, "norm": "after"}
    weights, history = retrain(model, TEXT, TEXT[:500], settings, "float32")
    assert len(weights["norm"].unique()) > 1  # the gain is trained too, and begins as one number
    inputs, targets = inputs_and_targets(held_out(TEXT[:500], settings, 24))
    with torch.no_grad():
        post = model.hidden(inputs)[1].flatten(0, 1)
    logits = family_head(post, weights)
    loss = F.cross_entropy(torch.from_numpy(logits), targets.flatten()).item()
    assert loss == pytest.approx(min(row["validation_loss"] for row in history), abs=1e-5)
    assert loss < history[0]["validation_loss"] - 0.1


def test_both_kinds_begin_at_the_factors_of_the_truncated_head_and_at_its_scale(model):
    a, b = factors(model.head.weight, 3)
    post = 7 * torch.randn(500, 12, generator=torch.Generator().manual_seed(0))
    plain, normed = (initial(model.head.weight, 3, norm, post) for norm in ("none", "after"))
    for head in (plain, normed):
        assert torch.equal(head.A.weight, a)
        assert torch.equal(head.B.weight, b)
    np.testing.assert_allclose(plain(post).detach(), post @ (a @ b).T, atol=1e-4)
    middle = (post @ b.T).numpy()
    spread = np.sqrt(((middle - middle.mean(axis=1, keepdims=True)) ** 2).mean())
    np.testing.assert_allclose(normed.norm.weight.detach(), np.full(3, spread), rtol=1e-5)
    entering = normed.norm(normed.B(post)).detach()
    assert entering.square().mean().sqrt().item() == pytest.approx(spread, rel=1e-3)


def test_nothing_but_the_head_moves_and_two_runs_are_equal_to_the_bit(model):
    settings = {**SETTINGS, "norm": "after", "max_steps": 10}
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    one, first = retrain(model, TEXT, TEXT[:500], settings, "float32")
    torch.manual_seed(99)  # nothing is drawn from here: the model's dropout is off
    other, second = retrain(model, TEXT, TEXT[:500], settings, "float32")
    assert first == second
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    _, third = retrain(model, TEXT, TEXT[:500], {**settings, "seed": 3}, "float32")
    assert third != first


def test_a_short_split_and_a_loss_that_is_no_number_are_refused(model):
    with pytest.raises(UserError, match="validation split has 24 bytes, which is not more than block: 24"):
        retrain(model, TEXT, TEXT[:24], SETTINGS, "float32")
    with pytest.raises(UserError, match=r"not a number at step .*; lower retrained\.learning_rate"):
        retrain(model, TEXT, TEXT[:500], {**SETTINGS, "learning_rate": 1e30}, "float32")


def test_a_full_head_on_the_trunk_of_a_plain_one_reads_what_enters_the_bottleneck(narrow, tmp_path):
    head = torch.randn(256, 16, generator=torch.Generator().manual_seed(2))
    save_tensors(tmp_path / "full.safetensors", {"head.weight": head}, {READS: "pre", "head": ALONE})
    windows = pa.table({"window": pa.array([5], pa.int32()), "prompt": [b"the c"], "scored": [b"at sat on"]})
    (state,) = run_windows(narrow, windows, 1)
    head_logits_of(tmp_path, "full", state)
    logits = vectors(read_table(tmp_path / "full.parquet")["logits"].combine_chunks())
    np.testing.assert_allclose(logits, state.pre @ head.numpy().T, atol=1e-4)


def head_logits_of(folder, name, state):
    """Run the script on the hidden states of a window."""
    with open_writer(folder / "hidden.parquet", hidden_schema(state.pre.shape[-1], state.post.shape[-1]), {}) as writer:
        writer.write_batch(state.hidden_batch())
    inputs = {"weights": folder / f"{name}.safetensors", "hidden": folder / "hidden.parquet"}
    params = {"rank": None, "states": None}
    logits_script.main(job(inputs, {"logits": folder / f"{name}.parquet"}, params=params, model=name))


@pytest.mark.parametrize("norm", ["none", "after"])
def test_from_files_to_logits(model, tmp_path, norm):
    """The scripts: a file of the head alone, and logits that are hidden states times A B, or the family's own."""
    save_model(tmp_path / "weights.safetensors", SHAPE, model.state_dict(), {})
    inputs = write_splits(tmp_path, train=TEXT.tobytes(), validation=TEXT[:500].tobytes())
    inputs |= {"training": inputs["train"], "weights": tmp_path / "weights.safetensors"}
    output = {"weights": tmp_path / "head.safetensors", "history": tmp_path / "history.parquet"}
    settings = {**SETTINGS, "norm": norm, "precision": "float32", "threads": 1}
    made = job(inputs, output, settings, model="ab3-s1")
    script.main(made)
    head = load_file(output["weights"])
    shapes = {"A": (256, 3), "B": (3, 12)} | ({"norm": (3,)} if norm == "after" else {})
    assert {name: tuple(tensor.shape) for name, tensor in head.items()} == shapes
    assert read_table(output["history"])["step"].to_pylist() == [0, 25, 50, 60]

    windows = pa.table({"window": pa.array([5], pa.int32()), "prompt": [b"the c"], "scored": [b"at sat on"]})
    (state,) = run_windows(model, windows, 1)
    head_logits_of(tmp_path, "head", state)
    logits = vectors(read_table(tmp_path / "head.parquet")["logits"].combine_chunks())
    plain = state.post @ head["B"].numpy().T @ head["A"].numpy().T
    expected = family_head(torch.from_numpy(state.post), head) if norm == "after" else plain
    np.testing.assert_allclose(logits, expected, atol=1e-4)
    assert np.linalg.matrix_rank(logits, tol=1e-3) <= (2 if norm == "after" else 3)

    (tmp_path / "train.bin").write_bytes(TEXT[:-1].tobytes())
    with pytest.raises(UserError, match=r"train\.bin"):
        script.main(made)


@pytest.mark.parametrize("split", ["train", "validation"])
def test_a_split_is_read_only_as_its_manifest_has_it(tmp_path, split):
    assert_a_flipped_bit_is_noticed(tmp_path, script.main, split)


def markov_chain(rank, tokens, length):
    """Draw a text whose next-token logits are U[last] V^T + c, U and V of `rank` columns; and their logarithms."""
    draw = np.random.default_rng(0)
    logits = draw.normal(size=(tokens, rank)) @ draw.normal(size=(rank, tokens)) + draw.normal(size=tokens)
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    sums, uniform = np.exp(log_probabilities).cumsum(axis=1), draw.random(length)
    text = np.zeros(length, np.uint8)
    for i in range(1, length):
        text[i] = min(np.searchsorted(sums[text[i - 1]], uniform[i]), tokens - 1)
    return text, log_probabilities


def test_the_rank_of_a_planted_source_is_recovered():
    """The loss falls until the rank that the source needs, k + 1: k of U V^T and one of c; a softmax sees no more."""
    k, tokens = 3, 32
    text, log_probabilities = markov_chain(k, tokens, 200_000)
    centred = log_probabilities - log_probabilities.mean(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(centred) == k + 1
    training, validation = text[:150_000], text[150_000:]
    model = fit(GPTConfig(layers=1, heads=2, width=32, block=32, vocabulary=tokens), training, 400)
    changes = {"batch": 16, "max_steps": 300, "learning_rate": 0.01, "warmup_steps": 10}
    settings = {**SETTINGS, **changes, "evaluation_interval": 300, "evaluation_batches": 40}
    losses = {}
    for rank in (2, 3, 4, 8):
        _, history = retrain(model, training, validation, {**settings, "rank": rank}, "float32")
        losses[rank] = history[-1]["validation_loss"]
    inputs, targets = inputs_and_targets(held_out(validation, settings, 32))
    source = -log_probabilities[inputs, targets].mean()
    assert losses[2] > losses[3] + 0.03
    assert losses[3] > losses[4] + 0.03
    assert losses[4] == pytest.approx(source, abs=0.015)  # what the source itself has; the model is fitted, not exact
    assert losses[8] == pytest.approx(losses[4], abs=0.003)


V = 12  # classes that all occur and none of which is certain, so that the minimum is finite
LETTERS = (np.random.default_rng(0).integers(0, 4, 4000) + np.tile(np.arange(9), 445)[:4000]).astype(np.uint8)
LBFGS = {**SETTINGS, "rank": None, "sequences": 60, "max_steps": 300, "evaluation_interval": 50}


@pytest.fixture(scope="module")
def small():
    return fit(GPTConfig(**{**vars(SHAPE), "vocabulary": V}), LETTERS, 30)


def read_by(model):
    """States and targets of the sequences that are read at each iteration."""
    inputs, targets = inputs_and_targets(training_batch(LETTERS, SETTINGS["seed"], 0, 1, 60, SHAPE.block)[0])
    with torch.no_grad():
        return model.hidden(inputs)[1].flatten(0, 1).double(), targets.flatten()


def test_a_full_head_ends_at_the_minimum_of_its_convex_loss(small):
    _, history = optimise(small, LETTERS, LETTERS[:500], LBFGS, "float32")
    states, targets = (part.numpy() for part in read_by(small))

    def loss(flat):
        logits = states @ flat.reshape(V, -1).T
        whole = logsumexp(logits, axis=1)
        slope = np.exp(logits - whole[:, None])
        slope[np.arange(len(targets)), targets] -= 1
        mean = (whole - logits[np.arange(len(targets)), targets]).mean()
        return mean, (slope.T @ states / len(targets)).ravel()

    least = minimize(
        loss,
        np.zeros(V * states.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10**5, "maxfun": 10**5, "ftol": 0, "gtol": 1e-8, "maxcor": 50},
    )
    assert history[0]["train_loss"] > least.fun + 0.01
    assert history[-1]["train_loss"] == pytest.approx(least.fun, abs=1e-4)
    losses = [row["train_loss"] for row in history]
    assert losses == sorted(losses, reverse=True)


def test_a_narrow_head_ends_at_least_as_low_as_by_adamw(small):
    head, history = optimise(small, LETTERS, LETTERS[:500], {**LBFGS, "rank": 3}, "float32")
    assert (head["A"].shape, head["B"].shape) == ((V, 3), (3, 12))
    of_adamw, _ = retrain(small, LETTERS, LETTERS[:500], SETTINGS, "float32")
    assert history[0]["train_loss"] > history[-1]["train_loss"]
    states, targets = read_by(small)
    adamw = F.cross_entropy(states.float() @ (of_adamw["A"] @ of_adamw["B"]).T, targets).item()
    assert history[-1]["train_loss"] < adamw + 1e-3


def test_the_config_asks_for_it_and_its_work_is_counted():
    retrained = {"ranks": [4], "norm": ["none"]}
    asked = default(retrained={**retrained, "sequences": 100, "max_steps": 50, "evaluation_interval": 25})
    (head,) = models(asked).values()
    settings = head_settings(asked, head)
    assert settings["sequences"] == 100
    assert not {"learning_rate", "warmup_steps"} & set(settings)
    shape = {"layers": 2, "heads": 6, "width": 288, "block": 256, "rank": 288}
    twice = retraining_flops(shape, {**settings, "max_steps": 100, "evaluation_interval": 50})
    assert retraining_flops(shape, settings) < twice < 2 * retraining_flops(shape, settings)
    assert "sequences" not in head_settings(default(retrained=retrained), head)
