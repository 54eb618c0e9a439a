"""A tiny language model, trained for a few steps, in a folder as the workflow saves it."""

import pytest
from tiny_model import train

from oversmoothing.models.pretrained.auto import load_language_model
from studies.sample_quality.language_model import save_language_model
from studies.sample_quality.perplexity import KEY


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "language_model"
    model, tokenizer, _ = train()
    save_language_model(path, model, tokenizer)
    return path


@pytest.fixture(scope="session")
def language_model(folder):
    return load_language_model(folder, key=KEY)
