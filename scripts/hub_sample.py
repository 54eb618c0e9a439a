"""Let a truth from the hub continue the prompt of every window, under each decoding."""

from typing import TYPE_CHECKING

from oversmoothing.device import choose_device, choose_precision, make_deterministic
from oversmoothing.jobs import run
from oversmoothing.samples.files import write_samples
from oversmoothing.truths.load import load_truth

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the manifest of its files and the windows; write one file of samples for each decoding."""
    settings, name = job.params.settings, job.wildcards.model
    device = choose_device(job.params.device)
    precision = choose_precision(settings["precision"], device)
    make_deterministic(device, settings["threads"])
    model = load_truth(job.input.manifest, name, settings, device, precision)
    facts = {"model": name, "precision": precision, "device": device.type}
    write_samples(model, job.input.windows, job.output, settings, facts)


if __name__ == "__main__":
    run(main, snakemake)
