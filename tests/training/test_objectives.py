"""Objectives: each against a case solved by hand and finite differences, where it is cross-entropy, and in training."""

import math
from importlib import import_module
from pathlib import Path

import pytest
import torch
from recipes import blocks, with_objective
from small_training import FULL, SETTINGS, TEXT, run
from torch.nn import functional as F

from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model
from oversmoothing.training import objectives as module
from oversmoothing.training.batches import training_batch
from oversmoothing.training.group import Group
from oversmoothing.training.objectives import OBJECTIVES, filtered, label_smoothing, losses_under, mixce, tailr
from oversmoothing.training.step import Step, validation_loss

PAPER = 2**-12  # threshold of filtered gradients
SETS = [{"name": "tailr", "gamma": 0.1}, {"name": "mixce", "eta": 0.3}, {"name": "label-smoothing", "smoothing": 0.2}]
SETS += [{"name": "filtered", "threshold": PAPER}]
LOG = math.log


def probabilities(*rows):
    return torch.tensor(rows, dtype=torch.float64).log()


def gradient(losses, logits, targets, *value):
    logits = logits.clone().requires_grad_()
    losses(logits, targets, *value).sum().backward()
    return logits.grad


def cross_entropies(logits, targets):
    return F.cross_entropy(logits, targets, reduction="none")


@pytest.fixture
def case():
    generator = torch.Generator().manual_seed(3)
    logits = 3 * torch.randn(20, 11, dtype=torch.float64, generator=generator)
    return logits, torch.randint(11, (20,), generator=generator)


@pytest.mark.parametrize(
    ("losses", "value", "expected"),
    [
        (tailr, 0.5, [6 / 7 * LOG(4 / 3), 2 / 5 * LOG(4)]),  # .75 / (.5 + .375) and .25 / (.5 + .125)
        (tailr, 1.0, [3 / 4 * LOG(4 / 3), 1 / 4 * LOG(4)]),
        (mixce, 0.25, [13 / 16 * LOG(4 / 3), 7 / 16 * LOG(4)]),  # 1/4 + 3/4 * 3/4 and 1/4 + 3/4 * 1/4
        (label_smoothing, 0.2, [0.9 * LOG(4 / 3) + 0.1 * LOG(4), 0.9 * LOG(4) + 0.1 * LOG(4 / 3)]),
        (filtered, 0.5, [LOG(4 / 3), LOG(4)]),
    ],
)
def test_a_case_solved_by_hand(losses, value, expected):
    """Probabilities 3/4 and 1/4, of which first the one and then the other is the target's."""
    logits = probabilities([0.75, 0.25], [0.75, 0.25]) + 7.0
    assert losses(logits, torch.tensor([0, 1]), value).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("losses", "value", "differentiated"),
    [
        (tailr, 0.3, lambda p, _: torch.where(p / (0.3 + 0.7 * p) > 0.2, -(0.3 + 0.7 * p).log() / 0.7, -0.2 * p.log())),
        (tailr, 1.0, lambda p, _: torch.where(p > 0.2, -p, -0.2 * p.log())),
        (mixce, 0.3, lambda p, _: -0.3 * p.log() - 0.7 * p),
        (mixce, 0.0, lambda p, _: -p),
        (label_smoothing, 0.3, lambda p, all_p: -0.7 * p.log() - 0.3 * all_p.log().mean(-1)),
    ],
)
def test_gradients_are_finite_differences_of_what_is_minimised(case, losses, value, differentiated):
    """With a factor that is a constant in the gradient, that is not the loss itself."""
    logits, targets = case

    def function(moved):
        p = moved.exp() / moved.exp().sum(-1, keepdim=True)
        return differentiated(p[torch.arange(len(p)), targets], p)

    step = 1e-6
    expected = torch.stack(
        [(function(logits + step * e) - function(logits - step * e)) / (2 * step) for e in torch.eye(11).double()], -1
    )
    assert torch.allclose(gradient(losses, logits, targets, value), expected, atol=1e-8)


def test_one_of_ones_own(case, tmp_path, monkeypatch):
    """The recipe of CONTRIBUTING.md, in a copy of the module."""
    (tmp_path / "own_objectives.py").write_text(
        with_objective(Path(module.__file__).read_text(), *blocks("An objective"))
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = import_module("own_objectives")
    losses = own.losses_under({"name": "confidence-penalty", "weight": 0.5})
    logits = probabilities([0.75, 0.25])
    by_hand = LOG(4) - 0.5 * (0.75 * LOG(4 / 3) + 0.25 * LOG(4))
    assert losses(logits, torch.tensor([1])).item() == pytest.approx(by_hand, rel=1e-12)
    known = own.OBJECTIVES["confidence-penalty"]
    assert torch.allclose(known.losses(*case, known.ordinary), cross_entropies(*case), rtol=1e-12)
    assert own.losses_under(SETS[0]) is not None


@pytest.mark.parametrize("name", OBJECTIVES)
def test_each_is_cross_entropy_at_one_value_and_finite_where_targets_are_improbable(case, name):
    logits, targets = case[0].float(), case[1]
    objective, rounding = OBJECTIVES[name], 8 * torch.finfo(torch.float32).eps
    ours = objective.losses(logits, targets, objective.ordinary)
    assert torch.allclose(ours, cross_entropies(logits, targets), rtol=rounding, atol=rounding)
    found, expected = (gradient(*way) for way in ((objective.losses, logits, targets, objective.ordinary),
                                                   (cross_entropies, logits, targets)))  # fmt: skip
    assert torch.allclose(found, expected, rtol=rounding, atol=rounding)
    logits, targets = torch.tensor([[0.0, -200.0]]), torch.tensor([1])
    assert objective.losses(logits, targets, 0.5).isfinite().all()
    assert gradient(objective.losses, logits, targets, 0.5).isfinite().all()


def test_an_improbable_target_counts_a_fifth_under_tailr():
    """0.1 / (0.5 + 0.05) = 2/11 is below the bound; 0.15 / (0.5 + 0.075) is above it."""
    losses = tailr(probabilities([0.1, 0.15, 0.75], [0.1, 0.15, 0.75]), torch.tensor([0, 1]), 0.5)
    assert losses.tolist() == pytest.approx([0.2 * LOG(10), 6 / 23 * LOG(20 / 3)], rel=1e-12)


def test_a_filter_drops_small_elements_of_the_gradient_and_leaves_all_others_to_the_bit():
    logits = probabilities([0.7, 0.3 - 3e-4, 2e-4, 1e-4], [1 - 3e-4, 1e-4, 1e-4, 1e-4], [1 - 2e-4, 1e-4, 5e-5, 5e-5])
    targets = torch.tensor([1, 0, 0])
    whole, ours = gradient(cross_entropies, logits, targets), gradient(filtered, logits, targets, PAPER)
    kept = torch.tensor([[True, True, False, False], [True, False, False, False], [False] * 4])
    assert torch.equal(ours, whole * kept)
    assert torch.equal(gradient(filtered, logits, targets, 0.0), whole)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"name": "tailr"}, "objective tailr: takes gamma, not none"),
        ({"name": "tailr", "eta": 0.1, "gamma": 0.1}, "objective tailr: takes gamma, not eta, gamma"),
        ({"name": "cross-entropy", "gamma": 0.1}, "objective cross-entropy: takes no setting, not gamma"),
        ({"name": "mixce", "eta": 1}, "objective mixce: eta = 1 is ordinary training; write {name: cross-entropy}"),
    ],
)
def test_what_is_wrong_with_an_entry_is_named(entry, message):
    with pytest.raises(UserError, match=message):
        losses_under(entry)


@pytest.mark.parametrize("entry", SETS, ids=lambda entry: entry["name"])
@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_step_learns_from_the_mean_of_the_losses(entry, accumulation):
    """Two micro-batches have the gradient of one of twice the sequences."""
    model = GPT(GPTConfig(**{**FULL, "dropout": 0.0}), 1)
    settings = {**SETTINGS, "objective": entry, "accumulation": accumulation, "batch": 4 // accumulation}
    step = Step(model, settings, 1, "float32", Group())
    step.optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    step.optimiser.param_groups[0]["rate"] = 1.0
    sequences = training_batch(TEXT, 0, 0, 1, 4, 24)
    before = model.head.weight.detach().clone()
    logits = model(sequences[0, :, :-1].long()).flatten(0, 1)
    expected = losses_under(entry)(logits, sequences[0, :, 1:].long().flatten()).mean()
    (of_head,) = torch.autograd.grad(expected, model.head.weight, retain_graph=True)
    everything = torch.autograd.grad(expected, list(model.parameters()))
    of_head *= min(1.0, 1.0 / torch.cat([part.flatten() for part in everything]).norm().item())  # clip
    loss = step.take(sequences.reshape(accumulation, 4 // accumulation, -1), SETTINGS["warmup_steps"])
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert torch.allclose(before - model.head.weight, SETTINGS["learning_rate"] * of_head, atol=1e-7)


def test_validation_is_in_cross_entropy(tmp_path):
    progress, checkpoints = run(tmp_path, {"objective": SETS[2]})
    model = load_model(checkpoints.folder.best)
    assert progress.best_loss == pytest.approx(validation_loss(model, TEXT[:500], SETTINGS, "float32"), abs=1e-6)
    assert progress.best_loss < progress.history[0]["validation_loss"] - 0.5
