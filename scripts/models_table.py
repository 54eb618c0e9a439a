"""All models of a run in one small file: what each is, its number of parameters and its loss."""

from pathlib import Path

import pyarrow as pa

from oversmoothing.jobs import Job, run
from oversmoothing.models.spectra import count_parameters
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.training.history import lowest_loss

MODELS = pa.schema(
    [
        ("name", pa.string()),
        ("kind", pa.string()),
        ("rank", pa.int32()),
        ("seed", pa.int64()),
        ("arm", pa.string()),
        ("source", pa.string()),
        ("parameters", pa.int64()),
        ("loss", pa.float64()),
        ("unit", pa.string()),
    ]
)


def main(job: Job) -> None:
    """Read the weights and histories of the models that were trained; write one row per model."""
    settings = job.params.settings
    parameters = {Path(path).parent.name: count_parameters(path) for path in job.input.weights}
    losses = {Path(path).parent.name: lowest_loss(path) for path in job.input.histories}
    unit = f"nats per {settings['unit']}"
    rows = [
        {
            **model,
            "parameters": parameters.get(name),
            "loss": losses.get(name),
            "unit": unit if name in losses else None,
        }
        for model in settings["models"]
        for name in [model["name"]]
    ]
    write_table(job.output[0], pa.Table.from_pylist(rows, schema=MODELS), provenance(settings))


if __name__ == "__main__":
    run(main)
