"""A language model so small that tests train it."""

import numpy as np
import torch

from studies.sample_quality.language_model import train_language_model

SETTINGS = {"vocabulary": 300, "layers": 1, "heads": 2, "width": 16, "block": 64, "batch": 2, "max_steps": 12} | {
    "learning_rate": 0.01,
    "warmup_steps": 2,
}
TEXT = "".join(f"The {n}th sentence says that {n * 7919} is a number.\n\n" for n in range(400))


def train(seed=1, **changes):
    data = np.frombuffer(TEXT.encode(), np.uint8)
    return train_language_model(data, {**SETTINGS, **changes}, seed, torch.device("cpu"), "float32")
