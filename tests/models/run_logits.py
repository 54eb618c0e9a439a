"""The step `logits.py` run on a model and windows."""

from types import SimpleNamespace

from step_jobs import job

import logits
from oversmoothing.models.weights import save_model
from oversmoothing.store.parquet import write_table


def run_logits(folder, model, windows, name="mine", states=None):
    """Write a model and windows, run the step, return its output; with `states`, a precision, of states and a head."""
    save_model(folder / "weights.safetensors", model.config, model.state_dict(), {})
    write_table(folder / "windows.parquet", windows, {})
    inputs = {"weights": folder / "weights.safetensors", "windows": folder / "windows.parquet"}
    output = SimpleNamespace(logits=folder / f"{name}.parquet", hidden=folder / f"{name}.hidden.parquet")
    step = job(inputs, output, {"batch": 3, "precision": "float32", "threads": 1, "states": states}, model=name)
    step.params.device = "cpu"
    logits.main(step)
    return output
