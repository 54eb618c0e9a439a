"""Models whose JSON is wrong in places drawn from a seed: each is loaded and run, or refused in one line."""

import pytest
import torch
from hostile_models import refused, write_models

from oversmoothing.models.pretrained.auto import load_language_model
from oversmoothing.models.truths.load import load_causal_lm


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_models(tmp_path_factory.mktemp("models"))


def is_a_truth(folder):
    load_causal_lm(folder, "own", 0, None, torch.device("cpu"), "float32").hidden(torch.arange(10)[None])


USES = [load_language_model, is_a_truth]


@pytest.mark.parametrize("seeds", [[*range(60), 1438], pytest.param(range(1000, 2000), marks=pytest.mark.slow)])
def test_hostile_models(models, tmp_path, seeds):
    counts = [refused(models, tmp_path / str(seed), seed, USES) for seed in seeds]
    assert 0.3 < sum(map(bool, counts)) / len(seeds) < 0.9
