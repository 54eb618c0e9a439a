"""Weights on disk: safetensors that carry the model's shape, and what is said of those that do not fit."""

import os
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import adopt
from oversmoothing.jobs import UserError
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_metadata, load_model, load_tensors, save_model, save_tensors
from oversmoothing.store.atomic import MACHINE

CONFIG = GPTConfig(layers=1, heads=1, width=8, block=16, rank=4, positions="rotary", dropout=0.2)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_model(path, CONFIG, GPT(CONFIG, 5).state_dict(), {"step": "7"})
    return path


def test_the_file_alone_rebuilds_the_model(path):
    loaded = load_model(path)
    assert loaded.config == CONFIG
    assert not loaded.training
    tokens = torch.arange(10)[None]
    assert torch.equal(loaded(tokens), GPT(CONFIG, 5).eval()(tokens))
    assert load_metadata(path)["step"] == "7"


def test_equal_tensors_are_equal_files_that_the_library_reads(tmp_path):
    """Of every layout, and whatever the order in which they are given."""
    values = torch.arange(24.0).reshape(4, 6)
    tensors = {"whole": values, "turned": values.T, "strided": values[:, ::2], "scalar": values[1, 1]}
    tensors["parameter"] = torch.nn.Parameter(values)
    stated = {f"key {name}": f'"é\n\x01\x7f\\ {name}' for name in "hgfedcba"}
    save_tensors(tmp_path / "one", tensors, stated)
    save_tensors(tmp_path / "two", dict(sorted(tensors.items())), dict(sorted(stated.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert load_tensors(tmp_path / "one")[1] == stated
    for name, tensor in load_file(tmp_path / "one").items():
        assert torch.equal(tensor, tensors[name])


def test_while_a_file_is_written_only_its_partial_file_is_there(tmp_path, monkeypatch):
    """So that whoever clears what a killed writer left finds all of it; others may read the file in the end."""
    seen = []
    seal = "oversmoothing.store.tensors.seal"
    monkeypatch.setattr(seal, lambda _: seen.extend(path.name for path in tmp_path.iterdir()))
    (tmp_path / "tensors.safetensors").write_text("of any file")
    mode = (tmp_path / "tensors.safetensors").stat().st_mode
    save_tensors(tmp_path / "tensors.safetensors", {"a": torch.zeros(3)}, {})
    assert sorted(seen) == [f".tensors.safetensors.{os.getpid()}-{MACHINE}.part", "tensors.safetensors"]
    assert (tmp_path / "tensors.safetensors").stat().st_mode == mode


WIDE = GPTConfig(layers=1, heads=1, width=16, block=16)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), r"\(its checksum differs\); delete it and run again"),
        (Path.unlink, "no such file"),
        (lambda path: save_file({"weight": torch.zeros(2)}, path), "no model config in its metadata"),
        (lambda path: save_model(path, WIDE, GPT(CONFIG).state_dict(), {}), "its tensors are not those of its config"),
    ],
    ids=["truncated", "missing", "of another project", "of another config"],
)
def test_a_file_that_holds_no_model_is_named(path, spoil, message):
    spoil(path)
    with pytest.raises(UserError, match=rf"weights\.safetensors: .*{message}"):
        load_model(path)


def test_weights_of_another_shape_than_the_config_asks_for(path):
    for any_of_them in ({}, {"vocabulary": None}):
        load_model(path, shape=vars(CONFIG) | any_of_them)
    with pytest.raises(UserError, match=r"weights\.safetensors: holds .*rank=4.*, but the config asks for .*rank=6"):
        load_model(path, shape={**vars(CONFIG), "rank": 6})


def test_no_module_reads_our_files_without_looking_at_seal_and_identity():
    """Models of other people have none, and of a training under way nothing but its progress is shown.

    `logit_files` opens a head again, block by block, after it has opened it through the door.
    """
    foreign = ("models/pretrained/", "models/truths/", "run/progress.py", "data/")
    reads = re.compile(r"\b(safe_open|load_file|ParquetFile)\(")
    library = Path(adopt.__file__).parent / "oversmoothing"
    found = [path for path in library.rglob("*.py") if not path.relative_to(library).as_posix().startswith(foreign)]
    readers = [path for path in found if reads.search(path.read_text())]
    doors = {"store/parquet.py", "store/tensors.py"}
    assert {path.relative_to(library).as_posix() for path in readers} == {"models/logit_files.py", *doors}
    for door in doors:
        text = (library / door).read_text()
        assert re.search(r"^    check\(path\b", text, re.MULTILINE)
        assert "check_identity(path, " in text
