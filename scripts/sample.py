"""Let one model continue the prompt of every window, under each decoding."""

from typing import TYPE_CHECKING

import torch

from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.jobs import run
from oversmoothing.samples.files import write_samples
from oversmoothing.spectra import read_head, truncate
from oversmoothing.weights import load_model

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read weights and windows; write one file of samples for each decoding."""
    settings, rank = job.params.settings, job.params.rank
    device = choose_device(job.params.device)
    precision = choose_precision(settings["precision"], device)
    make_deterministic(device, settings["threads"])
    model = load_model(job.input.weights, device)
    if rank is not None:
        with torch.no_grad():
            model.head.weight.copy_(torch.from_numpy(truncate(read_head(job.input.weights), rank)))
    facts = {"model": job.wildcards.model, "rank": rank, "precision": precision, "device": device.type}
    write_samples(model, job.input.windows, job.output, settings, facts)


if __name__ == "__main__":
    run(main, snakemake)
