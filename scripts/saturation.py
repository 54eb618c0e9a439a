"""Fit a law of losses to training histories; compare all losses with it (Godey et al. 2024; Hoffmann et al. 2022)."""

from typing import TYPE_CHECKING

from oversmoothing.jobs import run
from oversmoothing.saturation.histories import read_history, study_history
from oversmoothing.saturation.measure import measure
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake


def main(job: "Snakemake") -> None:
    """Read the histories of the models trained here and of the user; write the law and the points."""
    settings, given = job.params.settings, job.input
    histories = [
        study_history(name, history, weights, f"{settings.get('unit', 'byte')}s")
        for name, history, weights in zip(settings["study"], given.histories, given.weights, strict=True)
    ]
    histories += [
        read_history(entry["name"], path, entry["parameters"])
        for entry, path in zip(settings["histories"], given.others, strict=True)
    ]
    law, points = measure(histories, settings["fitted"], settings["skip"], settings["resamples"], settings["seed"])
    made_by = provenance(settings)
    write_table(job.output.law, law, made_by)
    write_table(job.output.points, points, made_by)


if __name__ == "__main__":
    run(main)
