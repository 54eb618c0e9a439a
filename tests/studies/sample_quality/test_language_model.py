"""The small language model: learns, is the same again for a seed, and appears whole."""

import numpy as np
import pytest
import torch
from tiny_model import SETTINGS, TEXT, train

from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_language_model
from studies.sample_quality import language_model as module
from studies.sample_quality.language_model import save_language_model
from studies.sample_quality.perplexity import read


def test_equal_seeds_give_equal_files(folder, tmp_path):
    model, tokenizer, _ = train()
    for left, name in ((".again.7.part", "config.json"), ("again", "old.txt")):  # by a killed process, or of earlier
        (tmp_path / left).mkdir()
        (tmp_path / left / name).write_text("{")
    save_language_model(tmp_path / "again", model, tokenizer)
    assert [path.name for path in tmp_path.iterdir()] == ["again"]
    names = sorted(path.name for path in folder.iterdir())
    assert {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"} <= set(names)
    assert names == sorted(path.name for path in (tmp_path / "again").iterdir())
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
    other, _, _ = train(seed=2)
    assert not torch.equal(other.transformer.wte.weight, model.transformer.wte.weight)


def test_it_learns(folder, tmp_path):
    model, tokenizer, loss = train(max_steps=40)
    save_language_model(tmp_path / "longer", model, tokenizer)
    texts = [TEXT[:120], TEXT[3000:3120]]
    before, after = (read(load_language_model(path), texts, 2).perplexity for path in (folder, tmp_path / "longer"))
    assert (after < before / 2).all()
    assert loss < np.log(SETTINGS["vocabulary"]) - 1


def test_a_folder_appears_whole_or_not_at_all(folder, tmp_path):
    class Broken:
        def save_pretrained(self, path):
            (path / "config.json").write_text("{}")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        save_language_model(tmp_path / "made" / "broken", Broken(), None)
    assert list((tmp_path / "made").iterdir()) == []


def test_too_little_text():
    data = np.frombuffer(b"Too short.", np.uint8)
    with pytest.raises(UserError, match=r"language_model\.block: the training split has \d+ tokens, too few"):
        module.train_language_model(data, SETTINGS, 1, torch.device("cpu"), "float32")
