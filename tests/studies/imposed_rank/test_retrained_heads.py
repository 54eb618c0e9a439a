"""Retrained heads: against the trained head, the family's own, a source of known rank, and that nothing else moves."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from corpus_jobs import assert_a_flipped_bit_is_noticed
from safetensors.torch import load_file
from small_training import TEXT
from step_jobs import job, write_splits
from torch.nn import functional as F

import head_logits as logits_script
from oversmoothing.jobs import UserError
from oversmoothing.models.factored_head import read_factored
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logits import hidden_schema
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.spectra import ALONE, READS, truncate
from oversmoothing.models.weights import save_model, save_tensors
from oversmoothing.store.parquet import open_writer, read_table, vectors
from oversmoothing.training.batches import inputs_and_targets, training_batch, validation_batches
from studies.imposed_rank import retrain as script
from studies.imposed_rank.heads import factors, initial, retrain

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


def test_factors_are_the_truncated_head_and_balanced(model):
    a, b = factors(model.head.weight, 3)
    assert (a.shape, b.shape) == ((256, 3), (3, 12))
    np.testing.assert_allclose((a @ b).numpy(), truncate(model.head.weight.detach().numpy(), 3), atol=1e-5)
    np.testing.assert_allclose((a.T @ a).numpy(), (b @ b.T).numpy(), atol=1e-5)
    whole = torch.matmul(*factors(model.head.weight, 100))
    np.testing.assert_allclose(whole.numpy(), model.head.weight.detach().numpy(), atol=1e-5)


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


def test_at_full_rank_the_loss_is_not_above_the_trained_heads(model):
    text = TEXT[:500]
    settings = {**SETTINGS, "rank": 12, "learning_rate": 0.003}
    with torch.no_grad():
        trained = cross_entropy(model, held_out(text, settings, 24)).item()
    _, history = retrain(model, TEXT, text, settings, "float32")
    assert history[0]["validation_loss"] == pytest.approx(trained, abs=1e-5)
    assert history[-1]["validation_loss"] < trained + 1e-3


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


def test_a_full_head_reads_from_a_narrow_heads_trunk_what_that_head_could_not_say(narrow):
    settings = {**SETTINGS, "reads": "pre", "learning_rate": 0.01}
    (full, wider), (own, same) = (
        retrain(narrow, TEXT, TEXT[:500], {**settings, "rank": rank}, "float32") for rank in (None, 3)
    )
    assert full["head.weight"].shape == (256, 16)
    assert np.linalg.matrix_rank(full["head.weight"].numpy(), tol=1e-3) == 16
    assert wider[0]["validation_loss"] == pytest.approx(same[0]["validation_loss"], abs=1e-5)
    assert wider[-1]["validation_loss"] < same[-1]["validation_loss"] - 0.02
    assert set(own) == {"A", "B"}


def test_the_kept_head_is_the_best_and_gives_its_loss(model):
    """A learning rate that ruins the head: what is kept is what it began with."""
    head, history = retrain(model, TEXT, TEXT[:500], {**SETTINGS, "rank": 12, "learning_rate": 50.0}, "float32")
    losses = [row["validation_loss"] for row in history]
    assert min(losses) == losses[0] < losses[-1]
    np.testing.assert_allclose((head["A"] @ head["B"]).numpy(), model.head.weight.detach().numpy(), atol=1e-5)
    head, history = retrain(model, TEXT, TEXT[:500], SETTINGS, "float32")
    inputs, targets = inputs_and_targets(held_out(TEXT[:500], SETTINGS, 24))
    with torch.no_grad():
        logits = model.hidden(inputs)[1] @ (head["A"] @ head["B"]).T
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
    assert loss == pytest.approx(min(row["validation_loss"] for row in history), abs=1e-5)


def family_head(post, weights):
    """The way from what enters the trained head to the logits, by a GPT of that rank: its own modules, no copy."""
    gpt = GPT(GPTConfig(layers=0, heads=1, width=12, block=1, rank=3)).eval()
    gpt.bottleneck.weight.data, gpt.norm.weight.data = weights["B"], weights["norm"]
    gpt.head.weight.data = weights["A"]
    with torch.no_grad():
        return gpt.logits(gpt.norm(gpt.bottleneck(post))).numpy()


def test_a_head_with_a_layer_norm_is_that_of_a_member_of_the_family(model, tmp_path):
    """On the same weights: the trained module, what is read from its file, and a GPT; and its rank is one less."""
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
    own = initial(model.head.weight, 3, "after", post)
    own.load_state_dict({f"{name}.weight": tensor for name, tensor in weights.items()})
    np.testing.assert_allclose(own(post).detach().numpy(), logits, atol=1e-5)
    save_tensors(tmp_path / "head.safetensors", weights, {})
    head, before = read_factored(tmp_path / "head.safetensors")
    np.testing.assert_allclose(before(post.numpy()) @ head.T, logits, atol=1e-4)
    assert np.linalg.matrix_rank(logits, tol=1e-3) == 2  # a LayerNorm takes a dimension
    with pytest.raises(UserError, match=r"gone\.safetensors: no such file"):
        read_factored(tmp_path / "gone.safetensors")


def test_both_kinds_begin_at_the_factors_of_the_truncated_head_and_at_its_scale(model):
    a, b = factors(model.head.weight, 3)
    post = 7 * torch.randn(500, 12, generator=torch.Generator().manual_seed(0))
    plain, normed = (initial(model.head.weight, 3, norm, post) for norm in ("none", "after"))
    assert list(dict(plain.named_children())) == ["B", "A"]
    assert list(dict(normed.named_children())) == ["B", "norm", "A"]
    for head in (plain, normed):
        assert torch.equal(head.A.weight, a)
        assert torch.equal(head.B.weight, b)
    np.testing.assert_allclose(plain(post).detach(), post @ (a @ b).T, atol=1e-4)
    middle = (post @ b.T).numpy()
    spread = np.sqrt(((middle - middle.mean(axis=1, keepdims=True)) ** 2).mean())
    np.testing.assert_allclose(normed.norm.weight.detach(), np.full(3, spread), rtol=1e-5)
    entering = normed.norm(normed.B(post)).detach()
    assert entering.square().mean().sqrt().item() == pytest.approx(spread, rel=1e-3)


@pytest.mark.parametrize("norm", ["none", "after"])
def test_nothing_but_the_head_moves_and_two_runs_are_equal_to_the_bit(model, norm):
    settings = {**SETTINGS, "norm": norm}
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
    """Draw a text whose next-token logits are U[last] V^T + c, U and V of `rank` columns.

    Returns
    -------
    text : uint8 array
    log_probabilities : array (tokens, tokens)
        Row i is that of the token after i.
    """
    draw = np.random.default_rng(0)
    logits = draw.normal(size=(tokens, rank)) @ draw.normal(size=(rank, tokens)) + draw.normal(size=tokens)
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    sums, uniform = np.exp(log_probabilities).cumsum(axis=1), draw.random(length)
    text = np.zeros(length, np.uint8)
    for i in range(1, length):
        text[i] = min(np.searchsorted(sums[text[i - 1]], uniform[i]), tokens - 1)
    return text, log_probabilities


def test_the_rank_of_a_planted_source_is_recovered():
    """The loss falls until the rank that the source needs, and then no more.

    A softmax does not see what all logits of a row have in common, so that a head may give any logits that agree with
    U V^T + 1 c^T up to a constant in each row. Taking the mean of each row away, which no such constant survives,
    leaves a matrix of rank k + 1: k from U V^T, and one from c, which is the same in every row. No choice of constants
    has a lower rank than that, for the projection never raises one. The hidden states behind GPT-2's LayerNorm lie on
    no subspace that spares the head a dimension: k + 1 it is.
    """
    k, tokens = 3, 32
    text, log_probabilities = markov_chain(k, tokens, 200_000)
    centred = log_probabilities - log_probabilities.mean(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(centred) == k + 1
    training, validation = text[:150_000], text[150_000:]
    model = fit(GPTConfig(layers=1, heads=2, width=32, block=32, vocabulary=tokens), training, 400)
    changes = {"batch": 16, "max_steps": 300, "learning_rate": 0.01, "warmup_steps": 10}
    settings = {**SETTINGS, **changes, "evaluation_interval": 300, "evaluation_batches": 40}
    losses = {}
    for rank in (1, 2, 3, 4, 5, 8):
        _, history = retrain(model, training, validation, {**settings, "rank": rank}, "float32")
        losses[rank] = history[-1]["validation_loss"]
    inputs, targets = inputs_and_targets(held_out(validation, settings, 32))
    source = -log_probabilities[inputs, targets].mean()
    assert losses[1] > losses[2] + 0.03
    assert losses[2] > losses[3] + 0.03
    assert losses[3] > losses[4] + 0.03
    assert losses[4] == pytest.approx(source, abs=0.015)  # what the source itself has; the model is fitted, not exact
    for rank in (5, 8):
        assert losses[rank] == pytest.approx(losses[4], abs=0.003)
