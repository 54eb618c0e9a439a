"""Two heads on one trunk: both drive it, and each is read on its own."""

import numpy as np
import pytest
import torch
from small_training import SETTINGS, TEXT, TWO_HEADS, make_task, run

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_shape import flops_per_byte, parameters
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.weights import load_model
from oversmoothing.store.parquet import read_table
from oversmoothing.training import throughput
from oversmoothing.training.batches import training_batch
from oversmoothing.training.launch import launch
from oversmoothing.training.step import batch_loss, validation_loss

PLAIN = {**TWO_HEADS, "beside": False}
WITHOUT_DROPOUT = {**TWO_HEADS, "dropout": 0.0}
BATCH = training_batch(TEXT, 0, 0, 1, 2, 24)[0]


def full_head(model):
    """The model's trunk under its second head, as a GPT with a full head."""
    shape = {**vars(model.config), "rank": None, "beside": False}
    tensors = {
        name: tensor for name, tensor in model.state_dict().items() if name not in ("bottleneck.weight", "head.weight")
    }
    own = GPT(GPTConfig(**shape))
    own.load_state_dict({name.replace("beside.", "head."): tensor for name, tensor in tensors.items()})
    return own


def gradients(model, loss=None):
    (batch_loss(model, BATCH, "float32") if loss is None else loss).backward()
    return {name: own.grad for name, own in model.named_parameters()}


@pytest.mark.parametrize("initial", ["gpt2", "fan_in"])
def test_it_starts_from_the_weights_of_a_plain_head(initial):
    both, plain = (GPT(GPTConfig(**shape), 3, initial) for shape in (TWO_HEADS, PLAIN))
    for name, tensor in plain.state_dict().items():
        assert torch.equal(tensor, both.state_dict()[name])
    assert set(both.state_dict()) - set(plain.state_dict()) == {"beside.weight"}
    assert both.beside.weight.std().item() == pytest.approx(0.02 if initial == "gpt2" else 0.25, rel=0.05)


def test_the_loss_and_the_gradient_of_the_trunk_are_the_means_of_both_heads():
    """Each head alone on the same trunk: a plain GPT and a full one, which know of no second head."""
    both = GPT(GPTConfig(**WITHOUT_DROPOUT), 1)
    narrow = GPT(GPTConfig(**{**WITHOUT_DROPOUT, "beside": False}))
    narrow.load_state_dict({name: tensor for name, tensor in both.state_dict().items() if name != "beside.weight"})
    full = full_head(both)
    losses = [batch_loss(model, BATCH, "float32") for model in (narrow, full)]
    assert batch_loss(both, BATCH, "float32").item() == pytest.approx(sum(losses).item() / 2, rel=1e-6)
    found = gradients(both)
    of_narrow, of_full = (gradients(model, loss) for model, loss in zip((narrow, full), losses, strict=True))
    assert torch.allclose(found["beside.weight"], of_full.pop("head.weight") / 2, atol=1e-8)
    for name, own in of_narrow.items():
        assert torch.allclose(found[name], (own + of_full[name]) / 2 if name in of_full else own / 2, atol=1e-8), name
    assert {"embedding.weight", "norm.weight", "blocks.0.attention.out.weight"} <= set(of_full)


def test_it_is_evaluated_and_read_by_its_narrow_head(tmp_path):
    progress, checkpoints = run(tmp_path, shape=TWO_HEADS)
    model = load_model(checkpoints.folder.best)
    tokens = BATCH[:, :-1].long()
    with torch.no_grad():
        assert torch.equal(model(tokens), model.logits(model.hidden(tokens)[1]))
        assert model.train()(tokens).shape == (2, *tokens.shape, 256)
    loss = validation_loss(model, TEXT[:500], SETTINGS, "float32")
    assert loss == pytest.approx(progress.best_loss, abs=1e-6)
    start = progress.history[0]["validation_loss"]
    assert progress.best_loss < start - 0.5
    assert validation_loss(full_head(model), TEXT[:500], SETTINGS, "float32") < start - 0.5


def test_two_processes_train_it_as_one_does(tmp_path):
    changes = {"shape": WITHOUT_DROPOUT, "accumulation": 2, "batch": 2}
    one, two = (make_task(tmp_path, name, **changes) for name in ("one", "two"))
    launch(one, 1)
    launch(two, 2)
    losses = [read_table(task.history).to_pandas() for task in (one, two)]
    np.testing.assert_allclose(losses[1].train_loss[1:], losses[0].train_loss[1:], atol=1e-4)
    np.testing.assert_allclose(losses[1].validation_loss, losses[0].validation_loss, atol=1e-4)


def test_its_weights_and_operations_are_counted():
    model = GPT(GPTConfig(**TWO_HEADS))
    assert parameters({"positions": "learned", **TWO_HEADS}) == sum(own.numel() for own in model.parameters())
    assert flops_per_byte(TWO_HEADS) == throughput.flops_per_byte(model)


@pytest.mark.parametrize("changes", [{"rank": None}, {"bottleneck_norm": "after"}])
def test_a_second_head_needs_a_plain_one(changes):
    with pytest.raises(UserError, match="model: beside, a second head, needs a rank and bottleneck_norm: before"):
        GPTConfig(**{**TWO_HEADS, **changes})
