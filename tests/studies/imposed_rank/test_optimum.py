"""Heads at the optimum: against SciPy on the same loss, from another start, and below what AdamW reaches."""

import numpy as np
import pytest
import torch
from default_config import default
from scipy.optimize import minimize
from scipy.special import logsumexp
from test_retrained_heads import SETTINGS, SHAPE, fit

from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.training.batches import inputs_and_targets, training_batch
from studies.imposed_rank.heads import retrain
from studies.imposed_rank.optimum import optimise
from studies.imposed_rank.plan import head_settings, models, retraining_flops

V = 12  # classes that all occur and none of which is certain, so that the minimum is finite
TEXT = (np.random.default_rng(0).integers(0, 4, 4000) + np.tile(np.arange(9), 445)[:4000]).astype(np.uint8)
LBFGS = {**SETTINGS, "rank": None, "sequences": 60, "max_steps": 300, "evaluation_interval": 50}


@pytest.fixture(scope="module")
def model():
    return fit(GPTConfig(**{**vars(SHAPE), "vocabulary": V}), TEXT, 30)


def test_a_full_head_ends_at_the_minimum_of_its_convex_loss(model):
    _, history = optimise(model, TEXT, TEXT[:500], LBFGS, "float32")
    inputs, targets = inputs_and_targets(training_batch(TEXT, SETTINGS["seed"], 0, 1, 60, SHAPE.block)[0])
    with torch.no_grad():
        states = model.hidden(inputs)[1].flatten(0, 1).double().numpy()
    targets = targets.flatten().numpy()

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


def test_the_start_of_a_full_head_does_not_count(model):
    other = GPT(model.config)
    other.load_state_dict(model.state_dict())
    other.eval().head.weight.data = 0.1 * torch.randn(
        model.head.weight.shape, generator=torch.Generator().manual_seed(1)
    )
    (_, one), (_, two) = (optimise(of, TEXT, TEXT[:500], LBFGS, "float32") for of in (model, other))
    assert abs(one[0]["train_loss"] - two[0]["train_loss"]) > 0.01
    assert one[-1]["train_loss"] == pytest.approx(two[-1]["train_loss"], abs=1e-4)


def test_a_narrow_head_ends_at_least_as_low_as_by_adamw(model):
    narrow = {**LBFGS, "rank": 3}
    head, history = optimise(model, TEXT, TEXT[:500], narrow, "float32")
    assert (head["A"].shape, head["B"].shape) == ((V, 3), (3, 12))
    of_adamw, _ = retrain(model, TEXT, TEXT[:500], SETTINGS, "float32")
    fixed = {**narrow, "max_steps": 0}
    assert optimise(model, TEXT, TEXT[:500], fixed, "float32")[1][0]["train_loss"] > history[-1]["train_loss"]
    inputs, targets = inputs_and_targets(training_batch(TEXT, SETTINGS["seed"], 0, 1, 60, SHAPE.block)[0])
    with torch.no_grad():
        states = model.hidden(inputs)[1].flatten(0, 1)
        logits = states @ (of_adamw["A"] @ of_adamw["B"]).T
        adamw = torch.nn.functional.cross_entropy(logits, targets.flatten()).item()
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
