"""Trainings of a second on a small text, in this process or as tasks of a job."""

import json
from pathlib import Path

import numpy as np
import torch
from step_jobs import write_splits

from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_tensors
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.folder import Folder, training_key, training_packages
from oversmoothing.training.loop import train
from oversmoothing.training.task import Task

TEXT = np.frombuffer(b"the cat sat on the mat and the dog sat on the cat. " * 80, np.uint8)
SETTINGS = {
    "initial": "gpt2",
    "head_rate": "same",
    "objective": {"name": "cross-entropy"},
    "backward_rank": None,
    "backward_interval": 1,
    "decay": "cosine",
    "batch": 2,
    "accumulation": 2,
    "max_steps": 40,
    "learning_rate": 0.01,
    "minimum_learning_rate": 0.001,
    "warmup_steps": 4,
    "weight_decay": 0.1,
    "betas": [0.9, 0.95],
    "clip": 1.0,
    "evaluation_interval": 10,
    "evaluation_batches": 2,
    "patience": 5,
    "snapshots": True,
    "precision": "float32",
    "compile": False,
    "threads": 1,
}
SHAPE = {"layers": 1, "heads": 2, "width": 16, "block": 24, "rank": 4, "dropout": 0.1}
FULL = {**SHAPE, "rank": None}


def run(folder, changes=(), key="k", shape=SHAPE, text=TEXT, precision="float32"):
    """Train from the last checkpoint in a folder, under `SETTINGS` with changes."""
    torch.set_num_threads(1)
    checkpoints = Checkpoints(folder, key, interval=5)
    settings, model = {**SETTINGS, **dict(changes)}, GPT(GPTConfig(**shape), 1)
    with checkpoints.lock():
        return train(model, text, text[:500], settings, 1, precision, checkpoints), checkpoints


def make_task(where, name, shape=SHAPE, **changes):
    """Describe a training on the text above, which is written where it is not there yet."""
    if not (where / "manifest.json").exists():
        write_splits(where, train=TEXT.tobytes(), validation=TEXT[:500].tobytes())
    return Task(
        model=name,
        settings={"model": shape, "training": {**SETTINGS, **changes}, "seed": 1},
        device="cpu",
        code="code",
        checkpoints=str(where / "checkpoints" / name),
        interval=5,
        training=str(where / "train.bin"),
        validation=str(where / "validation.bin"),
        manifest=str(where / "manifest.json"),
        weights=str(where / name / "weights.safetensors"),
        history=str(where / name / "history.parquet"),
        snapshots=str(where / name / "snapshots"),
        log=str(where / f"{name}.log"),
    )


def key_of(task):
    return training_key(task.settings, task.code, json.loads(Path(task.manifest).read_text()), training_packages())


def folder_of(task):
    return Folder.of(task.checkpoints, key_of(task))


def kept(checkpoints):
    """Steps of the snapshots in the folder of a training."""
    return [int(path.stem) for path in sorted(checkpoints.folder.snapshot(0).parent.iterdir())]


def same_bits(left, right):
    one, other = load_tensors(left)[0], load_tensors(right)[0]
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
