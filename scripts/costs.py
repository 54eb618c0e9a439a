"""Cost of each metric on single positions, with TBAT computed as in the thesis and as here."""

from typing import TYPE_CHECKING

import pyarrow as pa
from tqdm import tqdm

from oversmoothing.compiled import use_threads
from oversmoothing.costs.measure import COSTS, measure, read_positions
from oversmoothing.jobs import run
from oversmoothing.positions import draw_rows
from oversmoothing.spectra import read_head
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read heads and a few logits; write one row per model and position."""
    settings = job.params.settings
    use_threads(1)
    rows = draw_rows(job.input.truth, settings["positions"], settings["seed"])
    truth = read_positions(job.input.truth, rows)
    timing = {key: settings[key] for key in ("tau", "delta", "highest_rank")}
    costs: list[dict] = []
    with tqdm(total=len(rows) * len(settings["models"]), unit="position", disable=None) as bar:
        for model, logits, weights in zip(settings["models"], job.input.logits, job.input.weights, strict=True):
            bar.set_description(model)
            own = read_positions(logits, rows)
            for cost in measure(model, read_head(weights), own, truth, **timing):
                costs.append(cost)
                bar.update()
    write_table(job.output[0], pa.Table.from_pylist(costs, schema=COSTS), provenance(settings))


if __name__ == "__main__":
    run(main)
