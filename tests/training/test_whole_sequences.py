"""Training on a text that is made of whole sequences, of which the beginning is given."""

import numpy as np
import pytest
import torch
from small_training import SETTINGS, SHAPE
from torch.nn import functional as F

from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.training.batches import Whole, validation_batches, whole_batch
from oversmoothing.training.folder import training_key
from oversmoothing.training.step import batch_loss, validation_loss

LENGTH, COUNT = 20, 12
WHOLE = Whole(LENGTH, prompt=8)
DATA = (np.arange(COUNT)[:, None] * LENGTH + np.arange(LENGTH)).astype(np.uint8).ravel()  # byte i is i


def test_each_pass_has_every_sequence_once_in_an_order_of_its_own():
    steps = [whole_batch(DATA, 1, step, 2, 3, LENGTH) for step in range(6)]  # three passes
    firsts = torch.cat([batch[..., 0].flatten() for batch in steps]).reshape(3, COUNT) // LENGTH
    assert all(torch.equal(order.sort().values, torch.arange(COUNT)) for order in firsts.long())
    assert len({tuple(order.tolist()) for order in firsts}) == 3
    for batch in steps:
        assert (batch.diff(dim=-1) == 1).all()
        assert (batch[..., 0] % LENGTH == 0).all()


def test_a_step_depends_on_the_seed_and_its_number_alone_and_may_cross_from_one_pass_to_the_next():
    at = [whole_batch(DATA, seed, step, 1, 8, LENGTH)[0] for seed, step in ((1, 0), (1, 0), (2, 0), (1, 1))]
    assert torch.equal(at[0], at[1])
    assert not torch.equal(at[0], at[2])
    first, crossing = at[0][:, 0] // LENGTH, at[3][:, 0] // LENGTH
    assert set(first.tolist()) | set(crossing[:4].tolist()) == set(range(COUNT))


@pytest.fixture(scope="module")
def model():
    return GPT(GPTConfig(**SHAPE), 1).eval()


def test_the_loss_is_that_of_the_bytes_after_the_prompt(model):
    batch = whole_batch(DATA, 1, 0, 1, 3, LENGTH)[0]
    with torch.no_grad():
        log_p = model(batch[:, :-1].long()).log_softmax(dim=-1)
    by_hand = [-log_p[i, t - 1, batch[i, t].long()] for i in range(3) for t in range(WHOLE.prompt, LENGTH)]
    assert batch_loss(model, batch, "float32", WHOLE).item() == pytest.approx(torch.stack(by_hand).mean().item())
    assert batch_loss(model, batch, "float32").item() == pytest.approx(
        F.nll_loss(log_p.flatten(0, 1), batch[:, 1:].long().flatten()).item()
    )


def test_validation_reads_whole_sequences(model):
    batches = validation_batches(DATA, 2, 3, SHAPE["block"], WHOLE)
    assert batches.shape == (2, 3, LENGTH)
    assert (batches[..., 0].long() % LENGTH == 0).all()
    assert set((batches[..., 0].long() // LENGTH).flatten().tolist()) >= {0, COUNT - 1}
    settings = {**SETTINGS, "evaluation_batches": 2, "batch": 3}
    by_hand = np.mean([batch_loss(model, batch, "float32", WHOLE).item() for batch in batches])
    assert validation_loss(model, DATA, settings, "float32", whole=WHOLE) == pytest.approx(by_hand, rel=1e-6)


def test_the_key_of_a_training_holds_how_its_text_is_made():
    corpus = {"splits": {"train": {"sha256": "a"}, "validation": {"sha256": "b"}}}
    keys = {training_key({}, "code", {**corpus, **more}, {}) for more in ({}, {"sequences": vars(WHOLE)})}
    assert len(keys) == 2
